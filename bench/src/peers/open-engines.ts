import type { ScenarioContext } from '../scenario.ts'
import type { Engine, EngineKind } from './engine.ts'

export interface OpenedEngine {
  readonly kind: EngineKind
  readonly engine: Engine
}

export interface Skipped {
  readonly kind: EngineKind
  readonly reason: string
}

export interface OpenedEngines {
  readonly opened: readonly OpenedEngine[]
  readonly skipped: readonly Skipped[]
}

/** Opens the engines one after the other. A peer that cannot be had is left out; an engine of ours that fails ends the run. */
export async function openEngines(
  context: ScenarioContext,
  branchUrl: string,
  kinds: readonly EngineKind[],
): Promise<OpenedEngines> {
  const opened: OpenedEngine[] = []
  const skipped: Skipped[] = []
  for (const kind of kinds) {
    context.progress.show(`starting ${kind.name}`)
    try {
      opened.push({ kind, engine: await kind.open(context, branchUrl) })
    } catch (error: unknown) {
      if (!kind.isPeer || context.harness.ending.aborted) throw error
      skipped.push({ kind, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return { opened, skipped }
}
