import { readEnvironment } from '@counterstep/test-servers'
import { describe, it } from 'vitest'
import { RuntimeClientMissingError } from '../errors.ts'
import { installRuntimeClient, type RuntimeClient } from '../install-runtime-client.ts'

interface Missing {
  readonly reason: string
  readonly isError: boolean
}

/** This runs before the tests are collected, because it decides which tests exist. */
const found = await findRuntimeClient()

/** Defines tests with functions. Without the runtime client there is one skipped test, which shows the reason. */
export function describeLambda(title: string, define: (client: RuntimeClient) => void): void {
  if ('entry' in found) describe(title, () => define(found))
  else describeMissing(title, found)
}

function describeMissing(title: string, { reason, isError }: Missing): void {
  describe(title, () => {
    it('The runtime client of Lambda is installed', (context) => {
      if (isError) throw new Error(reason)
      context.skip(reason)
    })
  })
}

async function findRuntimeClient(): Promise<RuntimeClient | Missing> {
  try {
    return await installRuntimeClient()
  } catch (error: unknown) {
    if (!(error instanceof RuntimeClientMissingError)) throw error
    return { reason: error.message, isError: readEnvironment().isCi && !error.isExcused }
  }
}
