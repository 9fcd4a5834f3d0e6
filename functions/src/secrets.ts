import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'

const CONNECT_MS = 1_000
const REQUEST_MS = 3_000

/**
 * Reads the text of a secret of AWS Secrets Manager by its ARN. Rejects when it cannot be read, or is no text, or when
 * the signal ends the read.
 */
export type ReadSecret = (arn: string, signal?: AbortSignal) => Promise<string>

/** Creates a reader that loads AWS's client for the first secret, so that a function without secrets does not load it. */
export function createSecretReader(): ReadSecret {
  let client: SecretsManagerClient | undefined
  return async function readSecret(arn, signal) {
    const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager')
    client ??= new SecretsManagerClient({
      maxAttempts: 2,
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        requestTimeout: REQUEST_MS,
        throwOnRequestTimeout: true,
      },
    })
    const command = new GetSecretValueCommand({ SecretId: arn })
    const { SecretString } = await client.send(command, signal && { abortSignal: signal })
    if (SecretString === undefined) throw new Error(`${arn} holds no text`)
    return SecretString
  }
}
