import { fileURLToPath } from 'node:url'
import { readEnvironment } from './environment.ts'

const SOURCE = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url))

/**
 * `counterstep` for a process of its own: its source, or what TEST_COUNTERSTEP_PROGRAM names, as the tests do with one bundle
 * of it. They start it hundreds of times, and of six hundred modules each start takes half as much CPU time again.
 */
export const COUNTERSTEP_PROGRAM = readEnvironment().counterstepProgram ?? SOURCE
