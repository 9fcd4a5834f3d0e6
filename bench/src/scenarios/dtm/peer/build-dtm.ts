import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exclusively, readEnvironment } from '@counterstep/test-servers'
import type { Harness } from '../../../harness/harness.ts'
import { REPOSITORY } from '../../../harness/paths.ts'

/** The version that `dtm-module/go.mod` requires. */
export const DTM_VERSION = '1.19.0'

const MODULE = 'github.com/dtm-labs/dtm'
/** It has the sums of DTM and of all that it needs, and Go builds nothing that differs from them. */
export const MODULE_FOLDER = join(REPOSITORY, 'bench', 'dtm-module')
/** A first build downloads its modules and takes three minutes on two cores. */
const BUILD_MS_MAX = 900_000

export interface DtmBuild {
  /** The command of Go. */
  readonly go: string
  /** The folder that keeps what was built from one run to the next. */
  readonly keptIn: string
  /** Ends a build before its time. */
  readonly ending?: AbortSignal
}

export function defaultDtmBuild({ ending }: Pick<Harness, 'ending'>): DtmBuild {
  return { go: 'go', keptIn: join(readEnvironment().cacheFolder, 'dtm'), ending }
}

/** Returns DTM's program, built now or before. Throws an Error with the reason if it cannot be built. */
export async function buildDtm({ go, keptIn, ending }: DtmBuild): Promise<string> {
  const program = join(keptIn, `dtm-${DTM_VERSION}-${process.platform}-${process.arch}`)
  return await exclusively(`build ${program}`, async () => {
    if (existsSync(program)) return program
    mkdirSync(keptIn, { recursive: true })
    // It is moved into place when it is whole, so that a build that was cut off leaves nothing that looks like one.
    const made = `${program}.new`
    try {
      await promisify(execFile)(go, ['build', '-mod=readonly', '-o', made, MODULE], {
        cwd: MODULE_FOLDER,
        timeout: BUILD_MS_MAX,
        env: { ...process.env, GOTOOLCHAIN: 'local' },
        ...(ending === undefined ? {} : { signal: ending }),
      })
    } catch (error: unknown) {
      throw new Error(`Go does not build ${MODULE}@v${DTM_VERSION}: ${toReason(error)}`, { cause: error })
    }
    renameSync(made, program)
    return program
  })
}

function toReason(error: unknown): string {
  const { stderr = '' } = error as { readonly stderr?: string }
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('go: downloading'))
  return lines[0] ?? (error instanceof Error ? error.message : String(error))
}
