import type { ListCursor } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { CommandArgument } from '../links/server-link.ts'
import { encodeTag } from '../shards/more-words.ts'
import type { ShardCalls } from '../shards/shard-calls.ts'

// The members of the index of the tags are written by scripts/parts/tags.lua. No tag, no accept and no gid has a blank.

const ACCEPT_DIGITS = 16
/** The rarest of several tags is the one that is first found to have no more entries than one of these numbers. */
const RARE_BELOW = [100, 1_000, 10_000] as const

/** The members of a tag from before this pair down to an accept. */
export function toTagRange(tag: string, before: ListCursor, lastAt: number): readonly CommandArgument[] {
  const word = encodeTag(tag)
  return [
    `(${word} ${writeAccept(before.at)} ${before.gid}`,
    `[${word} ${writeAccept(lastAt)} `,
    'BYLEX',
    'REV',
  ]
}

export function decodeTagMember(member: string): ListCursor {
  const accept = member.indexOf(' ') + 1
  const end = member.indexOf(' ', accept)
  return { at: Number(member.slice(accept, end)), gid: member.slice(end + 1) as Gid }
}

/** A page scans the rarest of several tags. One shard tells which, since the gids are spread evenly. */
export async function findRarest(calls: ShardCalls, tags: readonly string[]): Promise<string | undefined> {
  if (tags.length <= 1) return tags[0]
  for (const entries of RARE_BELOW) {
    const further = await Promise.all(tags.map((tag) => hasMoreThan(calls, tag, entries)))
    const rare = further.indexOf(false)
    if (rare >= 0) return tags[rare]
  }
  return tags[0]
}

async function hasMoreThan(calls: ShardCalls, tag: string, entries: number): Promise<boolean> {
  const word = encodeTag(tag)
  const [shard = 0] = calls.shards.all
  const answer = await calls.command(shard, 'zrange', [
    // `!` is the character after the blank.
    ...[calls.keys(shard).tags, `[${word} `, `(${word}!`, 'BYLEX', 'LIMIT', entries, 1],
  ])
  return (answer as readonly string[]).length > 0
}

function writeAccept(at: number): string {
  return String(at).padStart(ACCEPT_DIGITS, '0')
}
