import type { ServerResponse } from 'node:http'
import { type BranchCall, type BranchCaller, NOT_SENT } from '@counterstep/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { branchCaller, type HttpBranchCallerOptions, InProcessDirectory } from '../src/index.ts'
import { targetPolicy } from '../src/targets/index.ts'
import { answerStatus, buildGrpcCall, openCaller, serveHttp2 } from './grpc/http2-service.ts'
import { buildCall, serveHttp } from './hostile-server.ts'

const ONE_PLACE: HttpBranchCallerOptions = { connectionsPerOriginMax: 1 }
const mayNot = { mayBegin: () => false }

/** A service that answers the call under way when it is told to, and every later one at once. */
interface HeldService {
  readonly caller: BranchCaller
  readonly build: (overrides?: Partial<BranchCall>) => BranchCall
  readonly answerFirst: () => Promise<void>
  countArrived(): number
}

function createLatch() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

async function holdOverHttp(): Promise<HeldService> {
  const arrived: ServerResponse[] = []
  const first = createLatch()
  const { url } = await serveHttp((_request, response) => {
    arrived.push(response)
    if (arrived.length > 1) response.end()
    else first.open()
  })
  return {
    caller: openCaller(ONE_PLACE),
    build: (overrides) => buildCall(url, overrides),
    answerFirst: async () => {
      await first.opened
      arrived[0]?.end()
    },
    countArrived: () => arrived.length,
  }
}

async function holdOverGrpc(): Promise<HeldService> {
  let arrived = 0
  let answer: () => void = () => undefined
  const first = createLatch()
  const { port } = await serveHttp2((stream) => {
    arrived++
    if (arrived > 1) {
      answerStatus(stream, 0)
      return
    }
    answer = () => answerStatus(stream, 0)
    first.open()
  })
  return {
    caller: openCaller(ONE_PLACE),
    build: (overrides) => buildGrpcCall(port, overrides),
    answerFirst: async () => {
      await first.opened
      answer()
    },
    countArrived: () => arrived,
  }
}

async function holdInProcess(): Promise<HeldService> {
  let arrived = 0
  const held = createLatch()
  const directory = new InProcessDirectory({
    bank: {
      '/debit': async () => {
        arrived++
        await held.opened
        return { answer: { statusCode: 200 } }
      },
    },
  })
  const targets = targetPolicy(directory.addTo({ services: [], allowed: [], others: 'none', isLocal: false }))
  const caller = branchCaller({ ...ONE_PLACE, targets }, { directory, onError: () => undefined })
  onTestFinished(() => caller.close())
  return {
    caller,
    build: (overrides) => buildCall('bank:/debit', overrides),
    answerFirst: async () => held.open(),
    countArrived: () => arrived,
  }
}

describe('A call that has waited for a place', () => {
  for (const [way, hold] of [
    ['HTTP', holdOverHttp],
    ['gRPC', holdOverGrpc],
    ['a function of this process', holdInProcess],
  ] as const) {
    it(`is not sent over ${way} if it may not begin any more, and those behind it are`, async () => {
      const { caller, build, answerFirst, countArrived } = await hold()
      const first = caller.call(build())
      const withdrawn = [caller.call(build(mayNot)), caller.call(build(mayNot))]
      const last = caller.call(build({ mayBegin: () => true }))
      await answerFirst()
      expect(await Promise.all(withdrawn)).toEqual([NOT_SENT, NOT_SENT])
      for (const call of [first, last]) expect((await call).result).toBe('success')
      expect(countArrived()).toBe(2)
    })
  }
})

describe('A call that has waited for a connection', () => {
  for (const { way, serve } of [
    {
      way: 'HTTP',
      async serve() {
        const { url, countAccepted } = await serveHttp((_request, response) => response.end())
        return { build: (overrides: Partial<BranchCall>) => buildCall(url, overrides), countAccepted }
      },
    },
    {
      way: 'gRPC',
      async serve() {
        const { port, countSessions } = await serveHttp2((stream) => answerStatus(stream, 0))
        const build = (overrides: Partial<BranchCall>) => buildGrpcCall(port, overrides)
        return { build, countAccepted: countSessions }
      },
    },
  ]) {
    it(`is not sent over ${way} if it may not begin any more, and the next one goes over that connection`, async () => {
      const { build, countAccepted } = await serve()
      const caller = openCaller(ONE_PLACE)
      let mayBegin = true
      const withdrawn = caller.call(build({ mayBegin: () => mayBegin }))
      mayBegin = false
      expect(await withdrawn).toEqual(NOT_SENT)
      expect((await caller.call(build({}))).result).toBe('success')
      expect(countAccepted()).toBe(1)
    })
  }
})
