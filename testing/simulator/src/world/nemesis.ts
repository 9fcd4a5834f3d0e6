/**
 * Causes the faults: kills, drains and pauses nodes, moves clocks, lets the store
 * hang and lose its last writes. Then it heals everything.
 */

import type { Node } from '../nodes/node.ts'
import { EVENT } from './event-code.ts'
import { healFaults } from './faults.ts'
import type { SimStore } from './sim-store.ts'
import type { World } from './world.ts'

const DRAIN_MS = 300
const TAIL_LOSSES = 4
const WATCH_MS = 15
const JUMP_MS_MAX = 5_000
const HANG_MS_MAX = 2_500

export function unleash(world: World, nodes: readonly Node[], store: SimStore, healAt: number): void {
  const { faults, random } = world
  const soon = () => random.between(0, healAt - 1)
  const strike = (hit: (node: Node) => void) => {
    const node = nodes[random.between(0, nodes.length - 1)]
    if (node !== undefined) lieInWait(world, soon(), healAt, () => strikeBusy(node, hit))
  }
  for (let crash = 0; crash < faults.crashes; crash++) {
    strike(random.chance(0.25) ? (node) => drain(world, node) : (node) => kill(world, node))
  }
  for (let pause = 0; pause < faults.pauses; pause++) strike((node) => stall(world, node, healAt))
  for (let hang = 0; hang < faults.storeHangs; hang++) {
    world.after(soon(), EVENT.nemesis, () => hangStore(world, healAt))
  }
  for (let jump = 0; jump < faults.clockJumps; jump++) {
    world.after(soon(), EVENT.nemesis, () => jumpClock(world, nodes))
  }
  if (faults.loseTail > 0) {
    for (let loss = 0; loss < TAIL_LOSSES; loss++) {
      lieInWait(world, soon(), healAt, () => cutPower(world, nodes, store))
    }
  }
  world.after(healAt, EVENT.nemesis, () => heal(world, nodes))
}

/** Tries again and again from `atMs` on, until the fault has hit something. */
function lieInWait(world: World, atMs: number, healAt: number, hit: () => boolean): void {
  world.after(atMs, EVENT.nemesis, () => {
    if (!hit() && world.now + WATCH_MS < healAt)
      lieInWait(world, world.random.between(1, WATCH_MS), healAt, hit)
  })
}

/** Hits a node only while it runs a transaction, because hitting an idle node proves nothing. */
function strikeBusy(node: Node, hit: (node: Node) => void): boolean {
  if (!node.isUp || node.running.length === 0 || node.pausedUntil > node.world.now) return false
  hit(node)
  return true
}

function kill(world: World, node: Node): void {
  if (!node.isUp) return
  world.counters.crashes++
  if (node.running.length > 0) world.counters.crashesInFlight++
  if (world.trace.isOn) world.trace.line(world.now, `${node.name} dies`)
  node.crash()
  world.after(world.random.between(0, 2_500), EVENT.nemesis, () => node.start())
}

/** Lets the store lose its last writes. After that, an operator aborts some of the affected transactions. */
function cutPower(world: World, nodes: readonly Node[], store: SimStore): boolean {
  const { random } = world
  const lost = store.loseTail()
  for (const gid of lost) {
    const node = nodes[random.between(0, nodes.length - 1)]
    if (node === undefined || !random.chance(0.5)) continue
    const ask = () => {
      if (node.isUp) node.abort(gid)
    }
    world.after(random.between(1, 300), EVENT.nemesis, ask, node)
  }
  return lost.length > 0
}

/** Stops a node gracefully. Transactions that it does not give back in time die with it. */
function drain(world: World, node: Node): void {
  if (!node.isUp) return
  if (world.trace.isOn) world.trace.line(world.now, `${node.name} drains`)
  node.drain('when-calls-end')
  world.after(DRAIN_MS, EVENT.nemesis, () => node.drain('now'), node)
  world.after(2 * DRAIN_MS, EVENT.nemesis, () => kill(world, node), node)
}

function stall(world: World, node: Node, healAt: number): void {
  world.counters.pauses++
  const pauseMs = world.random.between(50, 4_000)
  if (world.trace.isOn) world.trace.line(world.now, `${node.name} pauses for ${pauseMs}`)
  node.pausedUntil = Math.min(world.now + pauseMs, healAt)
  const { clockDrift, clockJumps } = world.faults
  if (clockDrift + clockJumps > 0 && world.random.chance(0.5)) stopClock(world, node)
}

/**
 * Stops a node's clock during its pause, like a monotonic clock that does not count the time of a suspended machine.
 */
function stopClock(world: World, node: Node): void {
  const pauseMs = node.pausedUntil - world.now
  world.counters.clockStops++
  world.jumpedMs += pauseMs
  node.clock.jump(-pauseMs)
}

/** Lets a clock jump. The store's wall clock may be set forward or back, and a node's own clock only jumps forward. */
function jumpClock(world: World, nodes: readonly Node[]): void {
  const { counters, random } = world
  const jumpMs = random.between(1, JUMP_MS_MAX)
  const node = random.chance(0.5) ? nodes[random.between(0, nodes.length - 1)] : undefined
  const ownMs = node === undefined && random.chance(0.5) ? -jumpMs : jumpMs
  counters.clockJumps++
  world.jumpedMs += jumpMs
  if (world.trace.isOn)
    world.trace.line(world.now, `the clock of ${node?.name ?? 'the store'} jumps ${ownMs}`)
  const clock = node?.clock ?? world.storeClock
  clock.jump(ownMs)
}

function hangStore(world: World, healAt: number): void {
  world.counters.storeHangs++
  world.storeHangsUntil = Math.min(world.now + world.random.between(100, HANG_MS_MAX), healAt)
  if (world.trace.isOn) world.trace.line(world.now, `the store hangs until ${world.storeHangsUntil}`)
}

function heal(world: World, nodes: readonly Node[]): void {
  world.isHealed = true
  world.faults = healFaults(world.faults)
  if (world.trace.isOn) world.trace.line(world.now, 'healed')
  for (const node of nodes) {
    node.pausedUntil = 0
    node.clock.straighten()
    node.start()
  }
}
