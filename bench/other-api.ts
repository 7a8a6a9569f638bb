// What other actions need for one request: a server in the place of GitHub's API and of AWS STS, and inputs. Known are
// actions/github-script, peter-evans/create-or-update-comment and aws-actions/configure-aws-credentials; each ignores the inputs of the others.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface OtherApi {
  readonly env: Readonly<Record<string, string>>
  /** Requests since the last call. */
  takeRequestCount(): number
}

const callerIdentity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <GetCallerIdentityResult>
    <Arn>arn:aws:iam::123456789012:user/bench</Arn>
    <UserId>AIDABENCH</UserId>
    <Account>123456789012</Account>
  </GetCallerIdentityResult>
</GetCallerIdentityResponse>`

export async function withOtherApi<T>(use: (api: OtherApi) => Promise<T>): Promise<T> {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    const isAws = request.headers['user-agent']?.startsWith('aws-sdk') === true
    request.resume().on('end', () => {
      response.writeHead(request.method === 'POST' && !isAws ? 201 : 200, { 'content-type': isAws ? 'text/xml' : 'application/json' })
      response.end(isAws ? callerIdentity : '{"id": 1}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const takeRequestCount = (): number => {
    const count = requests
    requests = 0
    return count
  }
  try {
    const { port } = server.address() as AddressInfo // It listens on a port, not on a pipe.
    const url = `http://127.0.0.1:${port}`
    return await use({ env: environment(url), takeRequestCount })
  } finally {
    server.close()
  }
}

const environment = (url: string): Readonly<Record<string, string>> => ({
  GITHUB_API_URL: url,
  GITHUB_REPOSITORY: 'watchkeeper/bench',
  AWS_ENDPOINT_URL: url,
  ...inputs({
    script: "await github.rest.issues.get({ owner: 'bench', repo: 'bench', issue_number: 1 })",
    'github-token': 'none',
    debug: 'false',
    'user-agent': 'bench',
    'result-encoding': 'json',
    retries: '0',
    'retry-exempt-status-codes': '400',
  }),
  ...inputs({
    token: 'none',
    repository: 'watchkeeper/bench',
    'issue-number': '1',
    body: 'text',
    'edit-mode': 'append',
    'append-separator': 'newline',
    'reactions-edit-mode': 'append',
  }),
  ...inputs({ 'aws-region': 'us-east-1', 'aws-access-key-id': 'AKIABENCH', 'aws-secret-access-key': 'none' }),
})

const inputs = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]))
