import { expect, it } from 'vitest'
import { addressIn } from '../../../src/runtime/cli/repository.ts'

it.each([
  ['https://github.com/shop/infra.git', 'github.com/shop/infra'],
  ['https://user:token@github.com/shop/infra', 'github.com/shop/infra'],
  ['git@github.com:shop/infra.git', 'github.com/shop/infra'],
  ['git@git.example.org:shop/platform/infra.git', 'git.example.org/shop/platform/infra'],
  ['ssh://git@git.example.com:2222/shop/infra/', 'git.example.com/shop/infra'],
  ['/srv/git/shop/infra.git', undefined],
  ['../infra', undefined],
  ['file:///srv/git/infra', undefined],
  ['', undefined],
])('the repository of the remote %s is %s', (url, address) => {
  expect(addressIn(url)).toBe(address)
})
