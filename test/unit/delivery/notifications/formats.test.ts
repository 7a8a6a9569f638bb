import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formats } from '../../../../src/delivery/notifications/send-notification.ts'
import { type Line, say, trusted, untrusted } from '../../../../src/platform/core/line.ts'
import { clip, printable } from '../../../../src/platform/core/text.ts'
import { forEachEntry, hostile } from '../../../support/corpus.ts'
import { messageWith } from '../../../support/message.ts'

const mentions = ['@channel', '@here', '<!here>', '<!channel>', '<@U024BE7LH>', '<#C024BE7LR>', '<!subteam^SAZ94GDB8>', '@everyone']
const links = [
  'https://evil.example',
  'evil.example',
  '<https://evil.example|Runbook>',
  '[Runbook](https://evil.example)',
  'a@evil.example',
]
const markup = [
  '*bold*',
  '_italic_',
  '~gone~',
  '`code`',
  '```',
  ':fire:',
  '&lt;!here&gt;',
  '<at>Everyone</at>',
  '{{DATE(2026-01-01T00:00:00Z)}}',
]

const texts = [
  ...hostile.map(({ id, value }) => [id, value] as const),
  ...[...mentions, ...links, ...markup].map((text) => [text, text] as const),
]

const shown = (text: string): string => (text === '' ? '(empty)' : printable(clip(text, 200)))

const decode = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/** The code spans of mrkdwn, and the text around them. A code span has a boundary on both sides and stays on its line. */
function parseMrkdwn(text: string): { readonly code: readonly string[]; readonly rest: string } {
  const span = /(?<![\p{L}\p{N}_`])`([^`\n]+)`(?![\p{L}\p{N}_`])/gu
  return { code: [...text.matchAll(span)].map(([, content = '']) => content), rest: text.replaceAll(span, '') }
}

describe('a Slack message', () => {
  const textOf = (sentence: Line): string => formats.slack(messageWith({ sentence })).text

  it('a Slack message has a first line with the name of the check and the reason, further lines, and links to the run and the issue', () => {
    const issueUrl = 'https://github.com/acme/shop/issues/12'
    const message = messageWith({ milestones: [say`75% of the budget was used.`], details: [say`Passed 3`], issueUrl })
    expect(formats.slack(message)).toEqual({
      text: [
        '❌ *Cost gate:* Budget exceeded: 283.33 of 250.00 CHC (113%).',
        '• 75% of the budget was used.',
        '• Passed 3',
        '`acme/shop` · `cost gate` · <https://github.com/acme/shop/actions/runs/4711|View the run> · <https://github.com/acme/shop/issues/12|View the issue>',
        '22 Nov 2026 06:17 UTC',
      ].join('\n'),
      unfurl_links: false,
      unfurl_media: false,
    })
  })

  it('S6: shows any text from outside as code, in which nothing is a mention, a link or markup', () =>
    forEachEntry<readonly [string, string]>(texts, (_, value) => {
      const [first = ''] = textOf(say`Budget ${value} exceeded.`).split('\n')
      const line = first.replace('❌ *Cost gate:* ', '')
      if (value === '') return expect(line).toBe('Budget _(empty)_ exceeded.')
      const { code, rest } = parseMrkdwn(line)
      expect(rest).toBe('Budget  exceeded.')
      expect(code.map(decode)).toEqual([shown(value).replaceAll('`', "'")])
      expect(line).not.toMatch(/[<>]|&(?!(?:amp|lt|gt);)/)
    }))

  it('keeps code apart from letters and other code', () => {
    const [line] = textOf([trusted('v'), untrusted('<!here>'), untrusted('b'), trusted('s')]).split('\n')
    expect(line).toBe('❌ *Cost gate:* v `&lt;!here&gt;` `b` s')
  })

  it('a Slack message has as many lines as it has parts, whatever they contain', () =>
    forEachEntry<readonly [string, string]>(texts, (_, value) => {
      expect(textOf(say`${value}`).split('\n')).toHaveLength(3)
    }))

  it('escapes an unknown operation, and a workflow', () => {
    const { text } = formats.slack(messageWith({ title: untrusted('<!here>'), workflow: '<!channel>' }))
    expect(text).toContain('❌ `&lt;!here&gt;`: Budget')
    expect(text).toContain('`acme/shop` · `&lt;!channel&gt;` · <https')
  })

  it('a Slack message outside of GitHub ends with the target and the time of the run', () => {
    const { text } = formats.slack(messageWith({ repository: undefined, workflow: undefined, runUrl: undefined }))
    expect(text.split('\n').slice(1)).toEqual(['22 Nov 2026 06:17 UTC'])
  })
})

describe('a Teams message', () => {
  type Inline = Readonly<Record<string, unknown>>
  const cardOf = (message = messageWith()) => formats.teams(message).attachments[0]?.content
  const inlinesOf = (sentence: Line): readonly Inline[] => cardOf(messageWith({ sentence }))?.body[0]?.inlines ?? []

  it('a Teams message is an Adaptive Card in the envelope of a workflow, with buttons to the run and the issue', () => {
    expect(formats.teams(messageWith({ issueUrl: 'https://github.com/acme/shop/issues/12' }))).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              {
                type: 'RichTextBlock',
                inlines: [
                  { text: '❌ ' },
                  { text: 'Cost gate:', weight: 'Bolder' },
                  { text: ' ' },
                  { text: 'Budget exceeded: ' },
                  { text: '283.33 of 250.00 CHC (113%).' },
                ],
              },
              { type: 'RichTextBlock', inlines: [{ text: 'acme/shop' }, { text: ' · ' }, { text: 'cost gate' }] },
              { type: 'RichTextBlock', inlines: [{ text: '22 Nov 2026 06:17 UTC', isSubtle: true }] },
            ],
            actions: [
              { type: 'Action.OpenUrl', title: 'View the run', url: 'https://github.com/acme/shop/actions/runs/4711' },
              { type: 'Action.OpenUrl', title: 'View the issue', url: 'https://github.com/acme/shop/issues/12' },
            ],
          },
        },
      ],
    })
  })

  it('a Teams message has no button without a page of the run', () => {
    expect(cardOf(messageWith({ runUrl: undefined }))).not.toHaveProperty('actions')
  })

  it('S6: a Teams message has any text from outside in a text run, which knows no Markdown and no mentions', () =>
    forEachEntry<readonly [string, string]>(texts, (_, value) => {
      const [, , , , run] = inlinesOf(say`Budget ${value} exceeded.`)
      expect(run).toEqual({ type: 'TextRun', text: shown(value), fontType: 'Monospace' })
      // A mention needs an entity, and Markdown a TextBlock.
      expect(JSON.stringify(cardOf(messageWith({ sentence: say`${value}` })))).not.toMatch(/"entities"|"type":"TextBlock"/)
    }))
})

describe('a JSON message', () => {
  it('a JSON message has plain values, also of any text from outside', () =>
    forEachEntry<readonly [string, string]>(texts, (_, value) => {
      const message = messageWith({ sentence: say`Budget ${value} exceeded.`, details: [say`${value}`], organizationId: 'o' })
      expect(JSON.parse(JSON.stringify(formats.json(message)))).toEqual({
        operation: 'usage-cost',
        title: 'Cost gate',
        status: 'fail',
        message: `Budget ${value} exceeded.`,
        milestones: [],
        details: [value],
        organizationId: 'o',
        repository: 'acme/shop',
        workflow: 'cost gate',
        runUrl: 'https://github.com/acme/shop/actions/runs/4711',
      })
    }))

  it('names the change since the last run, where it is known', () => {
    expect(formats.json(messageWith({ change: 'passing', status: 'pass' })).change).toBe('passing')
    expect(formats.json(messageWith({ change: 'none' })).change).toBeUndefined()
  })
})

it('docs/cost.md shows a message as JSON', () => {
  const text = readFileSync(new URL('../../../../docs/cost.md', import.meta.url), 'utf8')
  const [, code = ''] = /```json\n([\s\S]*?)```/.exec(text) ?? []
  const message = messageWith({
    sentence: say`Budget ${'Checkout team'} exceeded: 412.00 of 400.00 CHC (103%).`,
    footer: say`Organization ${'c0ffee00-0000-4000-8000-000000000001'} · 22 Nov 2026 06:17 UTC`,
    organizationId: 'c0ffee00-0000-4000-8000-000000000001',
    change: 'failing',
    milestones: [say`Usage reached 100% of budget ${'Checkout team'} on 21 Nov 2026: 401.50 of 400.00 CHC.`],
    details: [say`Costs most: ${'checkout'} 412.00 CHC (100%)`],
    issueUrl: 'https://github.com/acme/shop/issues/12',
  })
  expect(JSON.parse(JSON.stringify(formats.json(message)))).toEqual(JSON.parse(code))
})
