/**
 * Holds a message against what Slack publishes of incoming webhooks. Slack has no machine-readable schema of them, so this is
 * written from its reference pages, by name: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks for the
 * message, https://docs.slack.dev/reference/block-kit/blocks for the blocks and their bounds,
 * https://docs.slack.dev/reference/block-kit/composition-objects/text-object for their texts, and
 * https://docs.slack.dev/messaging/formatting-message-text for the escapes.
 */
const BLOCKS_MAX = 50
const SECTION_LENGTH_MAX = 3_000
const HEADER_LENGTH_MAX = 150
const TEXT_LENGTH_MAX = 40_000
const MESSAGE_FIELDS = ['text', 'blocks', 'attachments', 'thread_ts', 'mrkdwn']
const PLAIN_FIELDS = ['type', 'text', 'emoji']
const MARKED_FIELDS = ['type', 'text', 'verbatim']
/** The only markup that these messages have: one link, whose words are ours. */
const LINK = /^<https?:\/\/[^<>|]+\|[^<>|]+>$/

type Fields = Readonly<Record<string, unknown>>

export function findSlackFaults(message: unknown): string[] {
  if (!isRecord(message)) return ['the message is no object']
  const { text, blocks, mrkdwn } = message
  const faults = findUnknown(message, MESSAGE_FIELDS, 'the message')
  if (typeof text !== 'string' || text.length === 0 || text.length > TEXT_LENGTH_MAX) faults.push('its text')
  else faults.push(...findUnescaped(text, 'its text'))
  if (mrkdwn !== undefined && typeof mrkdwn !== 'boolean') faults.push('mrkdwn')
  if (!Array.isArray(blocks) || blocks.length === 0 || blocks.length > BLOCKS_MAX)
    return [...faults, 'its blocks']
  return [...faults, ...blocks.flatMap((block: unknown, at) => findBlockFaults(block, `block ${at}`))]
}

function findBlockFaults(block: unknown, where: string): string[] {
  if (!isRecord(block)) return [`${where} is no object`]
  const unknown = findUnknown(block, ['type', 'text', 'block_id'], where)
  switch (block.type) {
    case 'header':
      return [...unknown, ...findTextFaults(block.text, ['plain_text'], HEADER_LENGTH_MAX, where)]
    case 'section':
      return [...unknown, ...findTextFaults(block.text, ['plain_text', 'mrkdwn'], SECTION_LENGTH_MAX, where)]
    default:
      return [`${where} has an unknown type`]
  }
}

function findTextFaults(
  value: unknown,
  types: readonly string[],
  lengthMax: number,
  where: string,
): string[] {
  if (!isRecord(value)) return [`${where} has no text`]
  const { type, text, emoji, verbatim } = value
  if (typeof type !== 'string' || !types.includes(type)) return [`${where} has a text of another type`]
  const faults = findUnknown(value, type === 'mrkdwn' ? MARKED_FIELDS : PLAIN_FIELDS, where)
  for (const flag of [emoji, verbatim])
    if (flag !== undefined && typeof flag !== 'boolean') faults.push(`${where} has a flag that is none`)
  if (typeof text !== 'string' || text.length === 0 || text.length > lengthMax)
    return [...faults, `${where}: its length`]
  return type === 'mrkdwn' && LINK.test(text) ? faults : [...faults, ...findUnescaped(text, where)]
}

function findUnescaped(text: string, where: string): string[] {
  return /[<>]|&(?!amp;|lt;|gt;)/.test(text) ? [`${where} has a sign that is not escaped`] : []
}

function findUnknown(value: Fields, known: readonly string[], where: string): string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => `${where} has ${name}`)
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
