// Neither list can be complete: they catch mistakes, and do not replace naming what may be used.

/** `clientSecret`, `DATABASE_URL`, `SLACK_TOKEN` */
export function mayBeCredential(name: string): boolean {
  const separated = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
  return (
    /^(?:WATCHKEEPER_|INPUT_|ACTIONS_|RUNNER_|GH_|GITHUB_TOKEN$)|_PROXY$/i.test(name) ||
    // In any place of a name, such as PGPASSWORD.
    /PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL/i.test(name) ||
    /(?:^|_)(?:TOKENS?|PAT|DSN|(?:PRIVATE|ACCESS|API|DEPLOY|SSH|SIGNING)_?KEYS?|(?:DATABASE|DB|WEBHOOK|CONNECTION)_?(?:URL|URI|STRING))(?:_|$)/i.test(
      separated,
    )
  )
}

// Takes time in proportion to the text, which may come from a file of a pull request.
const credentialShapes: readonly (readonly [string, RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/],
  ['a URL with a user or password', /:\/\/[^/?#\s@]*@/],
  ['a GitHub token', /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}/],
  ['a GitLab token', /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{20,}/],
  ['an AWS key', /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/],
  // A secret access key has no prefix. A commit is as long, and has no capital letter.
  ['an AWS key', /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9/+]{40}$/],
  ['a Slack token', /\bxox[a-z](?:\.xox[a-z])?-[\w-]{8,}|\bxapp-\d-[\w-]{8,}/],
  [
    'the URL of a webhook',
    /\bhooks\.slack\.com\/|\bdiscord(?:app)?\.com\/api\/webhooks\/|\.webhook\.office\.com\/|\.(?:logic\.azure|powerplatform)\.com[:/]/i,
  ],
  ['a Stripe key', /\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{8,}|\bwhsec_[A-Za-z0-9]{8,}/],
  ['a JSON Web Token', /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}/],
  // The form is that of gitleaks, because ClickHouse documents none.
  ['a ClickHouse Cloud key', /\b4b1d[A-Za-z0-9]{38}\b/],
  ['a Google key', /\bAIza[\w-]{35}|\bya29\.[\w-]{8,}|\bGOCSPX-[\w-]{20,}/],
  ['a Grafana token', /\bgl(?:sa|c)_[\w+/=-]{20,}/],
  [
    'a token',
    /\b(?:npm_[A-Za-z0-9]{36}|(?:pypi-|hvs\.|dckr_pat_|do[opr]_v1_|sntry[us]_|NRAK-|sk-ant-|sk-proj-)[\w.-]{20,}|sk-[A-Za-z0-9]{32,})/,
  ],
  ['an Authorization header', /^(?:Authorization:\s*)?(?:Basic|Bearer)\s+[\w+/=.~-]{8,}$/i],
  [
    'a text with a password or key',
    /(?:^|[;&?\s])(?:password|passwd|pwd|(?:access_?|auth_?|refresh_?)?token|(?:client_?)?secret|(?:api_?|account_?|access_?|shared_?access_?)key|sig)=[^\s;&]/i,
  ],
]

/** `a GitHub token` */
export const credentialIn = (value: string): string | undefined => credentialShapes.find(([, shape]) => shape.test(value))?.[0]
