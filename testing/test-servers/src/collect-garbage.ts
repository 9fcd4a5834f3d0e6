import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Lets V8 collect all that nothing holds. A file that calls it needs a process of its own. */
export const collectGarbage: () => void = runInNewContext('gc')
