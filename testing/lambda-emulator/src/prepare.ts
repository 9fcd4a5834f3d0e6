// Makes ready before the tests what their machine may lack: it would else take a minute from the first of them.
import { RuntimeClientMissingError } from './errors.ts'
import { installRuntimeClient } from './install-runtime-client.ts'

try {
  const { entry } = await installRuntimeClient()
  process.stdout.write(`${entry}\n`)
} catch (error: unknown) {
  if (!(error instanceof RuntimeClientMissingError)) throw error
  // The tests that need it say so by name.
  process.stdout.write(`${error.message}\n`)
}
