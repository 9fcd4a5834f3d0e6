import type { TcpProxy } from '@counterstep/test-servers'
import type { Harm } from './nemesis-action.ts'

const LATENCY_MS = 60
const SLICE_BYTES = 100
const SLICE_GAP_MS = 2

interface HarmRule {
  begin(proxy: TcpProxy): void
  end(proxy: TcpProxy): void
}

export const HARM_RULES: Readonly<Record<Harm, HarmRule>> = {
  cut: { begin: (proxy) => proxy.cut(), end: (proxy) => proxy.cut() },
  refuse: {
    begin(proxy) {
      proxy.refuse()
      proxy.cut()
    },
    end: (proxy) => proxy.accept(),
  },
  'black-hole': { begin: (proxy) => proxy.blackHole(), end: (proxy) => proxy.heal() },
  hold: { begin: (proxy) => proxy.hold(), end: (proxy) => proxy.release() },
  latency: { begin: (proxy) => proxy.latency(LATENCY_MS), end: (proxy) => proxy.latency(0) },
  slice: { begin: (proxy) => proxy.slice(SLICE_BYTES, SLICE_GAP_MS), end: (proxy) => proxy.unslice() },
}
