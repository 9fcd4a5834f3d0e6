import { CounterstepError } from '@counterstep/protocol'

/** Loads the driver, which its users bring. Throws SAGA_STORE_UNSUPPORTED if it is not installed. */
export async function loadDriver(): Promise<typeof import('pg').default> {
  try {
    return (await import('pg')).default
  } catch (error: unknown) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CounterstepError(
      'SAGA_STORE_UNSUPPORTED',
      'the store on PostgreSQL needs a package: npm install pg',
      {
        cause: error,
      },
    )
  }
}
