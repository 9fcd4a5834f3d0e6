import { matchPostgres, type TcpProxy } from '@counterstep/test-servers'

/** The lost part of a statement: the request, its answer, or the connection while there may be no answer yet. */
export type LostPart = 'request' | 'answer' | 'connection'

export interface WireFault {
  /** Returns how many statements the fault has taken. */
  bites(): number
  cancel(): void
}

export interface WireFaults {
  /** Loses this part of the next statements of this kind. */
  lose(part: LostPart, isWanted: (sql: string) => boolean, times?: number): WireFault
  /** Returns the statements that were carried out since the last call, BEGIN and COMMIT among them. */
  takeStatements(): readonly string[]
}

interface Armed {
  readonly part: LostPart
  readonly isWanted: (sql: string) => boolean
  timesLeft: number
  bites: number
}

/**
 * Watches each connection of the proxy from its begin on, since a statement with a name is sent with its text only once. It must be
 * called before the store is opened.
 */
export function watchWire(proxy: TcpProxy): WireFaults {
  const armed = new Set<Armed>()
  let sent: string[] = []
  const takeFault = (part: LostPart) =>
    matchPostgres((sql) => {
      if (part === 'request') sent.push(sql)
      const fault = [...armed].find((each) => each.part === part && each.timesLeft > 0 && each.isWanted(sql))
      if (fault === undefined) return false
      fault.timesLeft -= 1
      fault.bites += 1
      return true
    })
  proxy.cutBefore(takeFault('request'), Number.POSITIVE_INFINITY)
  proxy.dropAnswerWhen(takeFault('answer'), Number.POSITIVE_INFINITY)
  proxy.cutAfter(takeFault('connection'), Number.POSITIVE_INFINITY)
  return {
    lose(part, isWanted, times = 1) {
      const fault: Armed = { part, isWanted, timesLeft: times, bites: 0 }
      armed.add(fault)
      return { bites: () => fault.bites, cancel: () => void armed.delete(fault) }
    },
    takeStatements() {
      const statements = sent
      sent = []
      return statements
    },
  }
}
