import { consoleDirectory } from '@counterstep/console/assets'

/** Builds the console before the tests, so that no test waits for it. Where it is built already, that takes no time. */
export async function setup(): Promise<void> {
  await consoleDirectory()
}
