import type { CallAsk, PlanContext, WorkflowProgram } from '@counterstep/workflow'

export function program(run: WorkflowProgram['run'], more: Partial<WorkflowProgram> = {}): WorkflowProgram {
  return { name: 'order', version: 1, hasBarrier: true, run, ...more }
}

/** A call of `svc:/id`, unless it has another URL. */
export function call(
  ctx: PlanContext,
  id: string,
  payload: unknown = {},
  url = `svc:/${id}`,
): Promise<unknown> {
  return ctx.call(id, toCall(payload, url))
}

export function toCall(payload: unknown, url: string): CallAsk {
  return { url, hasUndo: false, write: () => ({ action: url, payload: payload as object }) }
}

export function step(ctx: PlanContext, name: string, input?: unknown): Promise<unknown> {
  return ctx.step({ name, hasUndo: true, input })
}

export async function caught(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise
  } catch (error: unknown) {
    return `caught ${error instanceof Error ? error.message : String(error)}`
  }
}
