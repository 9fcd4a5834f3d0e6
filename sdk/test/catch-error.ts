import { isCounterstepError } from '@counterstep/sdk'

/** Returns the error of a call that must fail. Throws if it does not fail. */
export async function catchError(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error: unknown) {
    return error
  }
  throw new Error('it did not throw')
}

/** Returns the code of the error that a call throws. Undefined: it does not throw. */
export function catchCode(make: () => unknown): string | undefined {
  try {
    make()
    return undefined
  } catch (error: unknown) {
    return isCounterstepError(error) ? error.code : 'another error'
  }
}
