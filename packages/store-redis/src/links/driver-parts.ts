import { Socket } from 'node:net'
import { LibraryChangedError } from '@counterstep/protocol'
import { Command, type Redis } from 'ioredis'
import ioredis from 'ioredis/package.json' with { type: 'json' }

/**
 * What the store relies on beyond ioredis' documentation, read in 6.0.0. `sendCommand` takes a command of our own and asks
 * it for its bytes by `toWritable` in the moment in which it writes them, so that a command which was never written is
 * known not to have run. `args` may be emptied when a command has ended. `stream` is the connection's socket: what one turn
 * of the event loop brings goes out in one write, which takes 30 % off the client's CPU time of a write, and a connection
 * that owes an answer is reset.
 */
const READ_IN = '6.0.0'

/** Knows whether it was given to the socket: before that, it certainly was not run. */
export class TrackedCommand extends Command {
  isWritten = false

  /**
   * When it has ended. Measured, not explained: under load commands outlive the quick collections of V8 though nobody can
   * reach them, and with the texts of their rows that is 2 KB of a saga.
   */
  forgetArguments(): void {
    this.args = []
  }

  /** All arguments are texts. Joined once: ioredis' own chain of concatenations costs a third of a write's time. */
  override toWritable(): string {
    this.isWritten = true
    const words = [`*${this.args.length + 1}`, `$${this.name.length}`, this.name]
    for (const argument of this.args as readonly string[]) {
      words.push(`$${Buffer.byteLength(argument)}`, argument)
    }
    words.push('')
    return words.join('\r\n')
  }
}

export function sendCommand(redis: Redis, command: Command): Promise<unknown> {
  return redis.sendCommand(command) as Promise<unknown>
}

/** Undefined while there is no connection. */
export function readSocket(redis: Redis): Socket | undefined {
  return redis.stream
}

/** The self-test, run when a connection has been made for the first time. Throws a LibraryChangedError. */
export function assertDriverParts(redis: { readonly stream: unknown; readonly sendCommand: unknown }): void {
  if (!(redis.stream instanceof Socket)) throw changed('`stream`, the socket of a connection')
  if (typeof redis.sendCommand !== 'function') throw changed('`sendCommand`, which sends a command')
  const name = 'ping'
  const args = ['é']
  if (new TrackedCommand(name, args).toWritable() !== new Command(name, args).toWritable(redis.stream)) {
    throw changed('`name` and `args` of a command, from which `toWritable` makes its bytes')
  }
}

/** The self-test of each answer, the first of which comes while the store opens. Throws a LibraryChangedError. */
export function assertWasWritten({ isWritten }: TrackedCommand): void {
  if (!isWritten) throw changed('`toWritable`, which it did not ask for the bytes of a command')
}

function changed(part: string): LibraryChangedError {
  return new LibraryChangedError({ library: 'ioredis', version: ioredis.version, part, readIn: READ_IN })
}
