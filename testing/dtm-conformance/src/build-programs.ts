import { goProgram } from './go-program.ts'
import { javaProgram } from './java-program.ts'
import type { ClientProgram, StartCommand } from './program.ts'
import { ONE_FAILED, ONE_SKIPPED, sum, type Tally } from './program-tally.ts'
import { pythonProgram } from './python-program.ts'
import type { Settings } from './settings.ts'
import { BuildFailedError } from './toolchain.ts'

const PROGRAMS: readonly ClientProgram[] = [goProgram, pythonProgram, javaProgram]

export interface BuiltProgram {
  readonly name: string
  readonly speaksGrpc?: true | undefined
  readonly start: StartCommand
}

export type Print = (text: string) => void

/** Builds the programs; one that is missing or does not build is reported, and counted. */
export async function buildPrograms(
  settings: Settings,
  print: Print,
): Promise<{ built: BuiltProgram[]; tally: Tally }> {
  const built: BuiltProgram[] = []
  const tallies: Tally[] = []
  for (const { name, speaksGrpc, missing, build } of choosePrograms(settings)) {
    const reason = await missing()
    if (reason !== undefined) {
      print(`skipped ${name}: ${reason}`)
      tallies.push(ONE_SKIPPED)
      continue
    }
    try {
      built.push({ name, speaksGrpc, start: await build(settings.cacheFolder) })
    } catch (error: unknown) {
      if (!(error instanceof BuildFailedError)) throw error
      print(`not ok ${name}: it was not built: ${error.message}`)
      tallies.push(ONE_FAILED)
    }
  }
  return { built, tally: sum(tallies) }
}

function choosePrograms({ programs }: Settings): readonly ClientProgram[] {
  const unknown = programs.filter((name) => !PROGRAMS.some((each) => each.name === name))
  if (unknown.length > 0) throw new Error(`there is no program ${unknown.join(', ')}`)
  return PROGRAMS.filter(({ name }) => programs.length === 0 || programs.includes(name))
}
