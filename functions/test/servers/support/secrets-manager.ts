import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

const ARN_STEM = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:'

export function toArn(name: string): string {
  return `${ARN_STEM}${name}`
}

/** Stands in for the service that AWS's client asks for GetSecretValue. */
export interface SecretsManager extends AsyncDisposable {
  readonly url: string
  /** These ARNs were requested, in this order. */
  readonly asked: readonly string[]
}

export async function startSecretsManager(byName: Readonly<Record<string, string>>): Promise<SecretsManager> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { SecretId } = JSON.parse(body) as { readonly SecretId: string }
      asked.push(SecretId)
      const isAsked = request.headers['x-amz-target'] === 'secretsmanager.GetSecretValue'
      const SecretString = isAsked ? byName[SecretId.replace(ARN_STEM, '')] : undefined
      const [status, answer] =
        SecretString === undefined
          ? [400, { __type: 'ResourceNotFoundException' }]
          : [200, { ARN: SecretId, SecretString }]
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}
