import { it } from 'vitest'
import { useEmulator } from '../support/emulator.ts'
import { useGitHub } from '../support/github-server.ts'
import { playStory, stories } from '../support/older-files.ts'
import { sample } from '../support/seeds.ts'

const emulator = useEmulator({ dialect: 'clickhouse-cloud', rateLimit: { limit: 1000, windowMs: 1000 } })
const github = useGitHub()

it.each(sample(Object.entries(stories)))('W22: the service has what is right in the end: %s', (_, play) =>
  playStory(play, github(), emulator()),
)
