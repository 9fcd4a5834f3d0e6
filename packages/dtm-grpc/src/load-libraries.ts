import { CounterstepError } from '@counterstep/protocol'

const PACKAGES = ['@grpc/grpc-js', '@grpc/proto-loader']

export type Libraries = Awaited<ReturnType<typeof loadLibraries>>

/** Loads the packages for gRPC, which are optional. Throws SAGA_GRPC_MISSING if they are not installed. */
export async function loadLibraries() {
  try {
    const [grpc, loader] = await Promise.all([import('@grpc/grpc-js'), import('@grpc/proto-loader')])
    // It would write a line, with what a caller has sent, for each header that is not as it should be.
    grpc.setLogVerbosity(grpc.logVerbosity.NONE)
    return { grpc, loader }
  } catch (error: unknown) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new CounterstepError(
      'SAGA_GRPC_MISSING',
      `gRPC needs packages that are not installed: npm install ${PACKAGES.join(' ')}`,
    )
  }
}
