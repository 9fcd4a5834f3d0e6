// This builds the runtime client before the tests. Otherwise the first of them would wait a minute for it.
import { RuntimeClientMissingError } from './errors.ts'
import { installRuntimeClient } from './install-runtime-client.ts'

try {
  const { entry } = await installRuntimeClient()
  process.stdout.write(`${entry}\n`)
} catch (error: unknown) {
  if (!(error instanceof RuntimeClientMissingError)) throw error
  // The tests that need the client are skipped with this reason.
  process.stdout.write(`${error.message}\n`)
}
