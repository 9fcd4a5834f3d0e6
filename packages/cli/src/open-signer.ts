import type { Logger } from '@counterstep/engine'
import { type CallSigner, callSigner } from '@counterstep/signature'
import { watchSigningKey } from './watch-signing-key.ts'

/** Returns a signer that uses the key in the file and follows its changes. `close` ends the watching. */
export function openSigner(path: string, logger: Logger): { readonly signer: CallSigner; close(): void } {
  const watched = watchSigningKey(path, {
    onKey: ({ keyId, algorithm }) => logger.info({ keyId, algorithm }, 'signing with another key'),
    onProblem: (problem) => logger.error({}, problem),
  })
  const { keyId, algorithm } = watched.current()
  logger.info({ keyId, algorithm }, 'branch calls are signed')
  return { signer: callSigner(watched.current, Date.now), close: watched.close }
}
