import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface DemoOptions {
  /** End after the transfers. */
  readonly once: boolean
  /** The orchestrator's port; the banks take the next two. 0: free ports for all. */
  readonly port: number
  readonly dataFolder: string
}

const PORT_DEFAULT = 8470
/** The banks listen on the next two. */
const PORT_MAX = 65_533

/** Throws an Error whose message is for the user. `baseFolder` is what a relative --data starts from. */
export function readDemoOptions(
  args: readonly string[],
  baseFolder: string,
  dataDefault: string,
): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      once: { type: 'boolean', default: false },
      port: { type: 'string' },
      data: { type: 'string' },
    },
  })
  // The ports of a run that ends by itself need not be known, so it can stand beside another run.
  const port = values.port ?? String(values.once ? 0 : PORT_DEFAULT)
  if (!/^\d{1,5}$/.test(port) || Number(port) > PORT_MAX) {
    throw new Error(`--port must be a number from 0 to ${PORT_MAX}, not "${port}".`)
  }
  return {
    once: values.once,
    port: Number(port),
    dataFolder: values.data === undefined ? dataDefault : resolve(baseFolder, values.data),
  }
}
