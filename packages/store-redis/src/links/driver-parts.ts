import { Socket } from 'node:net'
import { LibraryChangedError } from '@counterstep/protocol'
import { Command, type Redis } from 'ioredis'
import ioredis from 'ioredis/package.json' with { type: 'json' }

/**
 * The store relies on these parts of ioredis, which are not in its documentation and were read in 6.0.0.
 * `sendCommand` takes a command of our own and asks it for its bytes by `toWritable` at the moment when it writes
 * them, so a command that was never written has certainly not run. `args` may be emptied when a command has ended.
 * `stream` is the connection's socket. The store corks it, so that one turn of the event loop makes one write, which
 * takes 30 % off the client's CPU time of a write, and resets it if an answer is late.
 */
const READ_IN = '6.0.0'

/** Knows whether it was given to the socket. Before that, it was certainly not run. */
export class TrackedCommand extends Command {
  isWritten = false

  /**
   * Frees the arguments once the command has ended. Measured, but not explained: under load commands outlive the quick
   * collections of V8 although they are unreachable, and the texts of their rows are 2 KB for each saga.
   */
  forgetArguments(): void {
    this.args = []
  }

  /**
   * All arguments are texts, which are joined once. The chain of concatenations in ioredis costs a third of a write's
   * time.
   */
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

/** Returns undefined while there is no connection. */
export function readSocket(redis: Redis): Socket | undefined {
  return redis.stream
}

/** Runs the self-test after the first connection. Throws a LibraryChangedError if it fails. */
export function assertDriverParts(redis: { readonly stream: unknown; readonly sendCommand: unknown }): void {
  if (!(redis.stream instanceof Socket)) throw toChangedError('`stream`, the socket of a connection')
  if (typeof redis.sendCommand !== 'function') throw toChangedError('`sendCommand`, which sends a command')
  const name = 'ping'
  const args = ['é']
  if (new TrackedCommand(name, args).toWritable() !== new Command(name, args).toWritable(redis.stream)) {
    throw toChangedError('`name` and `args` of a command, from which `toWritable` makes its bytes')
  }
}

/**
 * Runs the self-test on each answer. The first one comes while the store opens. Throws a LibraryChangedError if it
 * fails.
 */
export function assertWasWritten({ isWritten }: TrackedCommand): void {
  if (!isWritten) throw toChangedError('`toWritable`, which it did not ask for the bytes of a command')
}

function toChangedError(part: string): LibraryChangedError {
  return new LibraryChangedError({ library: 'ioredis', version: ioredis.version, part, readIn: READ_IN })
}
