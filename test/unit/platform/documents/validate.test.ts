import { describe, expect, it } from 'vitest'
import { lines, readText } from '../../../support/declarations.ts'

/** What is wrong with the file, without the place of the rule that all of it is of. */
const diagnosticsOf = (text: string): readonly string[] =>
  lines(readText(text).diagnostics).map((line) => line.replace(/^f\.yml:|schema: /g, ''))

const alert = (line: string): string => `alerts:\n  a:\n    name: A\n    threshold: 1\n    interval: 5m\n    ${line}\n`

const tile = (config: string): string =>
  `dashboards:\n  d:\n    name: D\n    tiles:\n      - name: T\n        x: 0\n        y: 0\n        w: 1\n        h: 1\n        config: ${config}\n`

const config = 'dashboards.d.tiles["T"].config'

describe('a diagnostic about a field', () => {
  it.each([
    ['intervall: 5m', '6:5 alerts.a: "intervall" is an unknown field; did you mean "interval"?'],
    ['thresholdtype: x', '6:5 alerts.a: "thresholdtype" is an unknown field; did you mean "thresholdType"?'],
    [
      'colour: red',
      '6:5 alerts.a: "colour" is an unknown field; accepted: name, displayName, query, dashboard, tile, savedSearch, groupBy, threshold, thresholdMax, thresholdType, interval, scheduleOffsetMinutes, scheduleStartAt, numConsecutiveWindows, channel, channels, message, note, tags, raw, adopt, previousKey',
    ],
    [
      'thresholdType: abov',
      '6:20 alerts.a.thresholdType: "abov" is not accepted; accepted: above, below, above_exclusive, below_or_equal, equal, not_equal, between, not_between; did you mean "above"?',
    ],
    ...Object.entries({ '">"': 'above_exclusive', '">="': 'above', lt: 'below', '<=': 'below_or_equal', '"=="': 'equal' }).map(
      ([given, meant]): [string, string] => [
        `thresholdType: ${given}`,
        `6:20 alerts.a.thresholdType: "${given.replaceAll('"', '')}" is not accepted; accepted: above, below, above_exclusive, below_or_equal, equal, not_equal, between, not_between; write ${meant}`,
      ],
    ),
    ['for: 15m', '6:5 alerts.a: "for" is an unknown field; write numConsecutiveWindows, a number of intervals'],
    ['severity: critical', '6:5 alerts.a: "severity" is an unknown field; it is a field of channel'],
    ...[`\${LIMIT}`, '$LIMIT', `\${env.LIMIT}`].map((given): [string, string] => [
      `thresholdMax: ${given}`,
      `6:19 alerts.a.thresholdMax: "${given}" is not accepted; accepted: a number; write \${{ env.LIMIT }} for the variable WATCHKEEPER_VAR_LIMIT`,
    ]),
    ['dashboard: 3', '6:16 alerts.a.dashboard: 3 is not accepted; accepted: a key, { id: … } or { name: … }'],
    ['dashboard: { nam: x }', '6:16 alerts.a.dashboard: {"nam":"x"} is not accepted; accepted: a key, { id: … } or { name: … }'],
    ['thresholdMax: 5%', '6:19 alerts.a.thresholdMax: "5%" is not accepted; accepted: a number; write 0.05'],
    ['thresholdMax: 12.5 %', '6:19 alerts.a.thresholdMax: "12.5 %" is not accepted; accepted: a number; write 0.125'],
    ['thresholdMax: "5"', '6:19 alerts.a.thresholdMax: "5" is not accepted; accepted: a number; write 5 without quotes'],
    ['scheduleOffsetMinutes: 1.5', '6:28 alerts.a.scheduleOffsetMinutes: 1.5 is not accepted; accepted: a whole number'],
    ['scheduleOffsetMinutes: 1440', '6:28 alerts.a.scheduleOffsetMinutes: 1440 is not accepted; accepted: at most 1439'],
    [
      'scheduleStartAt: tomorrow',
      '6:22 alerts.a.scheduleStartAt: "tomorrow" is not accepted; accepted: a time such as 2026-01-31T08:00:00Z',
    ],
    ['adopt: yes', '6:12 alerts.a.adopt: "yes" is not accepted; accepted: true, an id, or a list with an id for each service'],
    ['message: ""', '6:14 alerts.a.message: "" is not accepted; accepted: at least 1 character'],
    ['channels: x', '6:15 alerts.a.channels: "x" is not accepted; accepted: a list of maps, such as [{ type: … }]'],
    ['channels: []', '6:15 alerts.a.channels: [] is not accepted; accepted: at least 1 item'],
  ])('a diagnostic about a field has the location of the field, and what is accepted: %s', (line, expected) => {
    expect(diagnosticsOf(alert(line))).toEqual([expected])
  })

  it('a diagnostic about a field has the location of the object when the field is missing', () => {
    expect(diagnosticsOf('alerts:\n  a: { name: A }\n')).toEqual([
      '2:3 alerts.a.threshold: is missing; accepted: a number',
      '2:3 alerts.a.interval: is missing; accepted: 1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d',
    ])
  })

  it('suggests the neighbors of an interval', () => {
    const accepted = 'accepted: 1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d'
    expect(diagnosticsOf('alerts:\n  a: { name: A, threshold: 1, interval: 10m }\n')).toEqual([
      `2:41 alerts.a.interval: "10m" is not accepted; ${accepted}; did you mean "5m" or "15m"?`,
    ])
  })

  it.each([
    ['300', '; did you mean "5m"?'],
    ['60', '; did you mean "1m" or "1h"?'],
    ['7', ''],
  ])('suggests the intervals that %s can mean in seconds or minutes', (interval, suggested) => {
    expect(diagnosticsOf(`alerts:\n  a: { name: A, threshold: 1, interval: ${interval} }\n`)).toEqual([
      `2:41 alerts.a.interval: ${interval} is not accepted; accepted: 1m, 5m, 15m, 30m, 1h, 6h, 12h, 1d${suggested}`,
    ])
  })

  it('a diagnostic about a field is the only one about a misspelled field that is required', () => {
    expect(diagnosticsOf('alerts:\n  a: { name: A, treshold: 1, interval: 5m }\n')).toEqual([
      '2:17 alerts.a: "treshold" is an unknown field; did you mean "threshold"?',
    ])
  })

  it('cuts a long value', () => {
    const [expected = ''] = diagnosticsOf(alert(`thresholdType: ${'x'.repeat(100_000)}`))
    expect(expected.length).toBeLessThan(300)
    expect(expected).toContain('more characters)')
  })

  it('makes control characters visible', () => {
    expect(diagnosticsOf(alert('"\\e[2J\\u202e": 1'))[0]).toContain('"\\u001b[2J\\u202e" is an unknown field')
  })
})

describe('a diagnostic about a union is about the form that was meant', () => {
  it.each([
    ['channel: {}', '6:5 alerts.a.channel.type: is missing; accepted: webhook, email'],
    ['channel: { type: emal }', '6:22 alerts.a.channel.type: "emal" is not accepted; accepted: webhook, email; did you mean "email"?'],
    ['channel: { type: webhook }', '6:14 alerts.a.channel: {"type":"webhook"} must have either webhook or webhookId'],
    [
      'channel: { type: email, emailRecipients: [x] }',
      '6:47 alerts.a.channel.emailRecipients[0]: "x" is not accepted; accepted: at least 3 characters',
    ],
    ['channel: x', '6:14 alerts.a.channel: "x" is not accepted; accepted: a map such as { type: webhook, webhook: oncall }'],
  ])('channel: %s', (line, expected) => {
    expect(diagnosticsOf(alert(line))).toEqual([expected])
  })

  const shown = 'line, stacked_bar, table, number, pie, bar, heatmap, search, event_patterns, markdown'

  it('knows words of other tools', () => {
    const select = (fields: string) => `{ displayType: line, source: x, select: [${fields}] }`
    expect(diagnosticsOf(tile(select('{ aggFn: P95, valueExpression: y }')))).toEqual([
      expect.stringContaining(`${config}.select[0].aggFn: "P95" is not accepted`),
    ])
    expect(diagnosticsOf(tile(select('{ aggFn: P95, valueExpression: y }')))[0]).toMatch(/; write quantile, with level: 0\.95$/)
    expect(diagnosticsOf(tile(select('{ aggFn: avg, field: y }')))).toEqual([
      expect.stringContaining(`${config}.select[0]: "field" is an unknown field; did you mean "valueExpression"?`),
    ])
  })

  it.each([
    ['{ displayType: lin, sourceId: x }', [`10:32 ${config}.displayType: "lin" is not accepted; accepted: ${shown}; did you mean "line"?`]],
    ['{ sourceId: x }', [`10:9 ${config}.displayType: is missing; accepted: ${shown}`]],
    ['{ displayType: markdown, text: x }', [`10:42 ${config}: "text" is an unknown field; accepted: displayType, markdown`]],
    [
      '{ displayType: number, sourceId: x, select: [{ aggFn: count }], groupBy: y }',
      [`10:81 ${config}: "groupBy" cannot be combined with the other fields of this map`],
    ],
    ['{ displayType: pie, sourceId: x, select: [] }', [`10:58 ${config}.select: [] is not accepted; accepted: exactly 1 item`]],
    ['{ displayType: line, configType: sql, connection: x }', [`10:9 ${config}.sqlTemplate: is missing; accepted: a text`]],
    [
      '{ displayType: number, configType: sql, sqlTemplate: x, connectionId: y, selct: z }',
      [
        `10:90 ${config}: "selct" is an unknown field; accepted: displayType, configType, connection, connectionId, sqlTemplate, source, sourceId, numberFormat, color`,
      ],
    ],
    [
      '{ displayType: line, sourceId: x, select: [{ aggFn: cuont }] }',
      [expect.stringMatching(/^10:69 .*\.select\[0\]\.aggFn: "cuont" is not accepted; .*; did you mean "count"\?$/)],
    ],
    [
      '{ displayType: line, sourceId: { sorce: x }, select: [{ aggFn: count, wher: y }] }',
      [
        `10:48 ${config}.sourceId: {"sorce":"x"} is not accepted; accepted: an id, or { source: its name }`,
        `10:87 ${config}.select[0]: "wher" is an unknown field; did you mean "where"?`,
      ],
    ],
    [
      '{ displayType: heatmap, sourceId: x, select: [{ aggFn: count, valueExpression: y }] }',
      [`10:65 ${config}.select[0]: "aggFn" is an unknown field; accepted: valueExpression, countExpression, heatmapScaleType`],
    ],
    [
      '{ displayType: heatmap, sourceId: x, select: [{ valueExpresion: y }] }',
      [expect.stringMatching(/; did you mean "valueExpression"\?$/)],
    ],
    ['3', [`10:17 ${config}: 3 is not accepted; accepted: a map`]],
  ])('chart: %s', (text, expected) => {
    expect(diagnosticsOf(tile(text))).toEqual(expected)
  })
})
