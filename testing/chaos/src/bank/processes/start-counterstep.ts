import { join } from 'node:path'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import type { StoreEdge } from '../stores/store-fixture.ts'
import { OwnProcess } from './own-process.ts'
import { SERVER_FLAGS } from './server-flags.ts'

export interface CounterstepSpec {
  readonly index: number
  readonly logFolder: string
  readonly store: StoreEdge
  /** Where its native API listens. */
  readonly port: number
  /** Further options of the command line, without their dashes. */
  readonly flags: Readonly<Record<string, string | number>>
}

/** Starts a real `counterstep serve` and waits until it is ready. */
export function startCounterstep({
  index,
  logFolder,
  store,
  port,
  flags,
}: CounterstepSpec): Promise<OwnProcess> {
  const given = Object.entries({ ...SERVER_FLAGS, ...store.flags, port, ...flags })
  return OwnProcess.start({
    name: `server-${index}`,
    args: [
      COUNTERSTEP_PROGRAM,
      'serve',
      '--accept-new-kinds',
      ...given.flatMap(([name, value]) => [`--${name}`, String(value)]),
    ],
    log: join(logFolder, `server-${index}.log`),
    readyUrl: `http://127.0.0.1:${port}/health/ready`,
  })
}
