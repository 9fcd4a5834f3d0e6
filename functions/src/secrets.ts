import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'

const CONNECT_MS = 1_000
const REQUEST_MS = 3_000

/** Reads the text of a secret of AWS Secrets Manager by its ARN. Rejects when it cannot be read, or is no text. */
export type ReadSecret = (arn: string) => Promise<string>

/** Creates a reader that loads AWS's client for the first secret, so that a function without secrets does not load it. */
export function createSecretReader(): ReadSecret {
  let client: SecretsManagerClient | undefined
  return async function readSecret(arn) {
    const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager')
    client ??= new SecretsManagerClient({
      maxAttempts: 2,
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        requestTimeout: REQUEST_MS,
        throwOnRequestTimeout: true,
      },
    })
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }))
    if (SecretString === undefined) throw new Error(`${arn} holds no text`)
    return SecretString
  }
}
