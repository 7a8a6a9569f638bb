import { describe, expect, it } from 'vitest'
import { credentialIn, mayBeCredential } from '../../../../src/platform/core/credentials.ts'
import { cpuRatio, tenfold } from '../../../support/clocks.ts'
import { forEachEntry } from '../../../support/corpus.ts'

const repeat = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)

// In parts, so that no scanner takes this file for a leak.
const credentials: readonly (readonly [kind: string, ...parts: string[]])[] = [
  ['a private key', '-----BEGIN RSA ', 'PRIVATE KEY-----\nMIIE'],
  ['a private key', '-----BEGIN ', 'PRIVATE KEY-----'],
  ['a private key', '-----BEGIN OPENSSH ', 'PRIVATE KEY-----'],
  ['a private key', '-----BEGIN PGP ', 'PRIVATE KEY BLOCK-----'],
  ['a URL with a user or password', 'postgres://shop:', 'pa55@db.example.com/shop'],
  ['a URL with a user or password', 'https://', 'abcdef@o1.ingest.sentry.io/2'],
  ['a URL with a user or password', 'jdbc:clickhouse://default:', 'x@host:8443'],
  ['a URL with a user or password', 'see redis://:', 'x@host'],
  ['a GitHub token', 'ghp_', repeat('aB3', 36)],
  ['a GitHub token', 'gho_', repeat('aB3', 36)],
  ['a GitHub token', 'ghu_', repeat('aB3', 36)],
  ['a GitHub token', 'ghs_', repeat('aB3', 36)],
  ['a GitHub token', 'ghr_', repeat('aB3', 36)],
  ['a GitHub token', 'github_pat_', repeat('aB3_', 82)],
  ['a GitLab token', 'glpat-', repeat('aB3', 20)],
  ['an AWS key', 'AKIA', repeat('ABC234', 16)],
  ['an AWS key', 'ASIA', repeat('ABC234', 16)],
  ['an AWS key', repeat('aB3/+', 40)],
  ['a Slack token', 'xoxb-', '1234-5678-abcdef'],
  ['a Slack token', 'xoxe.xoxp-', '1-abcdefgh'],
  ['a Slack token', 'xapp-1-', 'A0000-1234'],
  ['the URL of a webhook', 'https://hooks.slack', '.com/services/T000/B000/XXXX'],
  ['the URL of a webhook', 'https://discord', '.com/api/webhooks/1/x'],
  ['the URL of a webhook', 'https://x.webhook', '.office.com/webhookb2/1'],
  ['the URL of a webhook', 'https://prod-1.westeurope.logic', '.azure.com:443/workflows/1/triggers/manual/paths/invoke'],
  ['a Stripe key', 'sk_live_', repeat('aB3', 24)],
  ['a Stripe key', 'rk_test_', repeat('aB3', 24)],
  ['a Stripe key', 'whsec_', repeat('aB3', 32)],
  ['a JSON Web Token', 'eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0', '.abc'],
  ['a JSON Web Token', 'eyJ', repeat('aB3', 8), '.eyJ', repeat('aB3', 8)],
  ['a ClickHouse Cloud key', '4b1d', repeat('aB3', 38)],
  ['a Google key', 'AIza', repeat('aB3', 35)],
  ['a Grafana token', 'glsa_', repeat('aB3', 32), '_1234abcd'],
  ['a token', 'npm_', repeat('aB3', 36)],
  ['a token', 'sk-ant-', repeat('aB3', 30)],
  ['a token', 'hvs.', repeat('aB3', 24)],
  ['an Authorization header', 'Bearer ', repeat('aB3', 20)],
  ['an Authorization header', 'Authorization: Basic ', repeat('aB3', 20)],
  ['a text with a password or key', 'host=db user=shop password=', 'x'],
  ['a text with a password or key', 'https://example.com/?a=1&sig=', 'x'],
  ['a text with a password or key', 'DefaultEndpointsProtocol=https;AccountKey=', 'x=='],
]

it('S9: finds the forms of well-known credentials, also inside of a longer text', () =>
  forEachEntry<readonly [string, ...string[]]>(credentials, (kind, ...parts) => {
    const text = parts.join('')
    expect(credentialIn(text)).toBe(kind)
    if (!/Authorization|AWS/.test(kind)) expect(credentialIn(`before ${text} after`)).toBe(kind)
  }))

it('leaves values alone that files need', () =>
  forEachEntry(
    [
      '',
      'checkout',
      'team-payments',
      'oncall@example.com',
      'https://grafana.example.com/d/1?from=now-1h&to=now',
      'https://medium.com/@shop/post',
      'https://wiki.example.com/runbooks#db@primary',
      "ServiceName:checkout AND SeverityText:error AND user:'a@b.c'",
      '20',
      '0.05',
      'true',
      '65f5e4a35eedc0de00000009',
      'c0ffee00-0000-4000-8000-0000000000c3',
      // A commit, in both common lengths.
      repeat('0123456789abcdef', 40),
      repeat('0123456789abcdef', 64),
      'global-glass-house-alerts-production',
      'task-force-of-the-payments-team-in-europe',
      'refs/heads/main',
      'primary_key, token and password',
      '2026-11-22T10:48:00Z',
    ],
    (value) => expect(credentialIn(value)).toBeUndefined(),
  ))

it('looks at a value in time that grows with its length, whatever it is made of', { tags: 'slow' }, () =>
  forEachEntry(
    ['eyJ-', 'eyJa.', '://', '://a', 'xoxb-', 'AKIA', 'aB3', 'password', 'sk-', '-----BEGIN ', '.logic.azure', 'gl', ' '],
    async (piece) => {
      const [long, short] = [repeat(piece, 100_000), repeat(piece, 10_000)]
      expect(
        await cpuRatio(
          () => credentialIn(long),
          () => credentialIn(short),
        ),
      ).toBeLessThanOrEqual(tenfold)
    },
  ),
)

describe('a name', () => {
  it.each([
    'DATABASE_URL',
    'SLACK_WEBHOOK_URL',
    'PGPASSWORD',
    'clientSecret',
    'API_KEYS',
    'DEPLOY_KEY',
    'SENTRY_DSN',
    'slackToken',
    'MYSQL_PWD_SECRET',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_ACCESS_KEY_ID',
    'GITHUB_TOKEN',
    'https_proxy',
    'MY_PAT',
    'ACTIONS_ID_TOKEN_REQUEST_URL',
  ])('a name may be that of a credential: %s', (name) => {
    expect(mayBeCredential(name)).toBe(true)
  })

  it.each(['SERVICE', 'WEBHOOK', 'WEBHOOK_NAME', 'ERRORS_PER_FIVE_MINUTES', 'RUNBOOK_URL', 'PARTITION_KEY', 'PATH_PREFIX', 'monkey'])(
    'a name is that of a value for files: %s',
    (name) => {
      expect(mayBeCredential(name)).toBe(false)
    },
  )
})
