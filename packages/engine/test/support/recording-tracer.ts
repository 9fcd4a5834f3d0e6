import type { TraceContext } from '@counterstep/core'
import type { EngineTracer, RunSpan } from '../../src/tracer.ts'

/** Writes down when each span begins and ends. */
export class RecordingTracer implements EngineTracer {
  /** For instance `run a begins`, `01 action ends with success`. */
  readonly lines: string[] = []
  #drawn = 0

  startAccept: EngineTracer['startAccept'] = ({ gid, kind }, caller) => {
    const line = `accept ${kind} ${gid}`
    this.lines.push(
      caller === undefined ? `${line} begins` : `${line} begins in ${caller.parent.slice(36, 52)}`,
    )
    const ended = (error?: unknown) =>
      error instanceof Error && 'code' in error ? `ends with ${String(error.code)}` : 'ends'
    return { trace: this.#draw(), end: (error) => this.lines.push(`${line} ${ended(error)}`) }
  }

  startRun: EngineTracer['startRun'] = ({ gid, definition }, claimMs): RunSpan => {
    const from = claimMs === undefined ? 'accepted' : 'claimed'
    this.lines.push(`run ${gid} begins, ${from}, in ${definition.trace?.parent.slice(36, 52)}`)
    return {
      trace: this.#draw(),
      startCall: ({ branchId, op, attempt }) => {
        const line = `${branchId} ${op}`
        this.lines.push(attempt === 1 ? `${line} begins` : `${line} begins, attempt ${attempt}`)
        return {
          trace: this.#draw(),
          run: (send) => send(),
          end: (answer) => this.lines.push(`${line} ends with ${answer?.result}`),
        }
      },
      startSave: () => {
        this.lines.push('save begins')
        return { end: (result) => this.lines.push(`save ends with ${result}`) }
      },
      end: ({ status }, how) => this.lines.push(`run ${gid} ends as ${status}, ${how}`),
    }
  }

  #draw(): TraceContext {
    this.#drawn++
    return { parent: `00-${'a'.repeat(32)}-${this.#drawn.toString(16).padStart(16, '0')}-01` }
  }
}
