/**
 * Writes an alert as a message for an incoming webhook of Slack. The words come from outside in part, so all of them stand
 * in plain text, where nothing is bold, a link or a mention. Only the link to the console is marked up.
 */
import type { AlertBody } from '@counterstep/protocol'
import { UNSEEN } from '../quote.ts'

// These bounds are Slack's: https://docs.slack.dev/reference/block-kit/blocks
const HEADER_LENGTH_MAX = 150
const SECTION_LENGTH_MAX = 3_000
/** Slack cuts a message's text beyond 40,000 characters, and asks for 4,000 at most. */
const TEXT_LENGTH_MAX = 4_000

interface PlainText {
  readonly type: 'plain_text'
  readonly text: string
  readonly emoji: false
}

type Block =
  | { readonly type: 'header'; readonly text: PlainText }
  | {
      readonly type: 'section'
      readonly text: PlainText | { readonly type: 'mrkdwn'; readonly text: string; readonly verbatim: true }
    }

export interface SlackMessage {
  /** Notifications show it. */
  readonly text: string
  readonly mrkdwn: false
  readonly blocks: readonly Block[]
}

const TITLES: Readonly<Record<AlertBody['rule'], string>> = {
  attention: 'A person is needed',
  failed: 'Many transactions fail',
  stuck: 'Transactions are stuck',
  paused: 'Transactions are paused',
  store: 'The store is in trouble',
  bulk: 'A bulk job needs a person',
  digest: 'Alerts were held back',
  test: 'Test',
}

export function toSlackMessage({
  rule,
  state,
  since,
  names,
  sampleGids,
  headline,
  advice,
  link,
}: AlertBody): SlackMessage {
  const title = `Counterstep: ${state === 'over' ? 'It is over' : TITLES[rule]}`
  const details = [
    ...(names.length === 0 ? [] : [`Names: ${names.join(', ')}`]),
    ...(sampleGids.length === 0 ? [] : [`For example: ${sampleGids.join(', ')}`]),
    `Since: ${new Date(since).toISOString()}`,
  ].join('\n')
  return {
    text: escapeWithin(`${headline} ${advice}`, TEXT_LENGTH_MAX),
    mrkdwn: false,
    blocks: [
      { type: 'header', text: toPlainText(title, HEADER_LENGTH_MAX) },
      { type: 'section', text: toPlainText(`${headline}\n${advice}`, SECTION_LENGTH_MAX) },
      { type: 'section', text: toPlainText(details, SECTION_LENGTH_MAX) },
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: `<${escapeWithin(link, TEXT_LENGTH_MAX)}|Open the console>`,
          verbatim: true,
        },
      },
    ],
  }
}

function toPlainText(text: string, lengthMax: number): PlainText {
  return { type: 'plain_text', text: escapeWithin(text, lengthMax), emoji: false }
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Escapes as Slack demands (https://docs.slack.dev/messaging/formatting-message-text) and cuts what is too long, never within
 * an escape. Signs that turn the direction of a text, and other invisible ones, become spaces.
 */
function escapeWithin(text: string, lengthMax: number): string {
  let escaped = ''
  for (const line of text.split('\n')) {
    const start = escaped === '' ? '' : '\n'
    for (const sign of `${start}${line.replace(UNSEEN, ' ')}`) {
      const written = ESCAPES[sign] ?? sign
      if (escaped.length + written.length > lengthMax - 1) return `${escaped}…`
      escaped += written
    }
  }
  return escaped
}
