import { describe, expect, it } from 'vitest'
import type { LintSettings } from '../../../../src/platform/core/diagnostics.ts'
import { type LintRule, lint, lintRules } from '../../../../src/sync/declarations/lint.ts'
import { fileWith, lines, messages, readText, readValue } from '../../../support/declarations.ts'

const lintValue = (value: unknown, settings: LintSettings = {}): readonly string[] => {
  const read = readValue(value)
  return messages([...read.diagnostics, ...lint(read, settings)])
}

const nameless = { more: { alerts: { a: { ...fileWith().alerts.a, name: undefined }, b: { ...fileWith().alerts.a, name: undefined } } } }

const twin = (changes: object) => ({ more: { alerts: { a: fileWith().alerts.a, b: { ...fileWith().alerts.a, ...changes } } } })

const search = (filter: object) => ({ more: { savedSearches: { s: { name: 'S', sourceId: 's', filters: [filter] } } } })

const formula = { displayType: 'line', sourceId: 's', select: [{ aggFn: 'count' }], formulas: [{ expression: 'A - B' }] }
const share = { displayType: 'line', sourceId: 's', asRatio: true, select: [{ aggFn: 'count', where: 'a:b' }, { aggFn: 'count' }] }

const average = { displayType: 'line', sourceId: 's', select: [{ aggFn: 'avg', valueExpression: 'x' }] }
/** Negative values are possible in one of its two lines. */
const countAndAverage = { displayType: 'line', sourceId: 's', select: [...average.select, { aggFn: 'count' }] }
const delta = { displayType: 'line', sourceId: 's', select: [{ aggFn: 'count', periodAggFn: 'delta' }] }

const p99 = { aggFn: 'quantile', level: 0.99, valueExpression: 'Duration' }
const latency = { displayType: 'line', sourceId: 's', select: [p99] }

const at = (name: string, x: number, y: number) => ({ name, at: [x, y, 6, 4], config: average })

const split = (interval: string): string =>
  `makes the server evaluate each ${interval} window in two parts, so the threshold is checked against partial data`
const onSilence = 'alerts.a.thresholdType: also fires when there is no data, because a window without rows counts as 0'
const silentGroups =
  'alerts.a.thresholdType: does not notice a group without rows as long as another group has some; use one alert for each group'

interface Case {
  readonly fires: readonly (readonly [Parameters<typeof fileWith>[0], string])[]
  readonly silent: readonly Parameters<typeof fileWith>[0][]
}

const sessions = (more: object) => ({
  more: {
    sources: {
      s: {
        name: 'S',
        kind: 'session',
        from: { databaseName: 'd', tableName: 't' },
        timestampValueExpression: 'T',
        traceSource: 'Traces',
        ...more,
      },
    },
  },
})

const webhook = (body: string) => ({ more: { webhooks: { w: { name: 'W', service: 'generic', urlFrom: 'WEBHOOK_URL', body } } } })

const noVersion = 'stays empty: no known version of the server has it'

const cases: Readonly<Record<LintRule, Case>> = {
  'unknown-body-variable': {
    fires: [
      [webhook('{"text": "{{tittle}}"}'), `webhooks.w.body: {{tittle}} ${noVersion}; did you mean "title"?`],
      [webhook('{{ Link.href }} {{{ link }}}'), `webhooks.w.body: {{Link}} ${noVersion}; did you mean "link"?`],
      [webhook('{{#severity}}high{{/severity}}'), `webhooks.w.body: {{severity}} ${noVersion}`],
      [webhook('{{#if (eq State "OK")}}{{/if}}'), `webhooks.w.body: {{State}} ${noVersion}; did you mean "state"?`],
      [webhook('{{#if title}}{{else if stage}}{{/if}}'), `webhooks.w.body: {{stage}} ${noVersion}; did you mean "state"?`],
      [webhook('{{~bdy~}} {{lookup this key=title}}'), `webhooks.w.body: {{bdy}} ${noVersion}; did you mean "body"?`],
      [
        webhook('{{#if (equals state "ALERT")}}trigger{{/if}}'),
        'webhooks.w.body: the server would send nothing: no known version has the helper "equals"',
      ],
      [
        webhook('{{eqq state "OK"}}'),
        'webhooks.w.body: the server would send nothing: no known version has the helper "eqq"; did you mean "eq"?',
      ],
    ],
    silent: [
      webhook('plain {text} {{}}'),
      webhook('{"a": "{{title}} {{body}} {{{link}}} {{state}} {{eventId}}", "b": {{startTime}}, "c": {{endTime}} }'),
      webhook('{{#if (eq state "ALERT")}}firing{{else}}resolved{{/if}}{{^}}'),
      webhook('{{! tittle }}{{!-- {{tittle}} --}}\\{{tittle}}'),
      webhook('{{#each (lookup . "tags") as |tittle|}}{{@index}} {{this}}{{../title}}{{/each}}'),
      webhook('{{#unless (eq title "}} tittle")}}{{this.title}}{{title.length}}{{[link]}}{{/unless}}{{log true 1 null undefined}}'),
    ],
  },
  'newer-body-variable': {
    fires: [
      [
        webhook('{"id": "{{alertId}}"}'),
        'webhooks.w.body: {{alertId}} stays empty on servers before September 2026 (hyperdx#3057); {{eventId}} identifies an alert, its group and the webhook on all servers',
      ],
      [
        webhook('{{#if (eq status "firing")}}{{title}}{{/if}}'),
        'webhooks.w.body: {{status}} stays empty on servers before September 2026 (hyperdx#3057); {{#if (eq state "ALERT")}}firing{{else}}resolved{{/if}} works on all servers',
      ],
      [webhook('{{value}}'), 'webhooks.w.body: {{value}} stays empty on servers before September 2026 (hyperdx#3057)'],
    ],
    silent: [webhook('{{eventId}}')],
  },
  'undocumented-field': {
    fires: [
      [
        sessions({ resourceAttributesExpression: 'R' }),
        'sources.s.resourceAttributesExpression: is not in the document of the API of ClickHouse Cloud, whose gateway refuses such fields in a session source; leave it out',
      ],
    ],
    silent: [sessions({}), sessions({ section: 'Shop' })],
  },
  'cloud-only': {
    fires: [
      [
        { alert: { channel: { type: 'email', emailRecipients: ['a@example.com'] } } },
        'alerts.a.channel: self-hosted servers refuse email channels',
      ],
      [
        { alert: { channel: { type: 'webhook', webhook: 'w', severity: 'error' } } },
        'alerts.a.channel.severity: self-hosted servers drop severity',
      ],
    ],
    silent: [{}, { alert: { channel: { type: 'webhook', webhook: 'w' } } }],
  },
  'may-be-refused': {
    fires: [
      [{ alert: { interval: '30s' } }, 'alerts.a.interval: 30s requires a feature that most services do not have; their server refuses it'],
      ...['x = 1', 'IN (1)', 'xIN (1)', 'x IN 1', 'x BETWEEN 1', 'x IN (1) OR y', ' x IN (1)'].map(
        (condition) =>
          [
            search({ type: 'sql', condition }),
            'savedSearches.s.filters[0]: the API accepts only SQL of the form IN (…), NOT IN (…) or BETWEEN … AND … for a new saved search',
          ] as const,
      ),
    ],
    silent: [
      { alert: { interval: '1m' } },
      ...["x IN ('a', 'b')", "lower(x) not in\n('a')", 'x BETWEEN 1 AND 2 '].map((condition) => search({ type: 'sql', condition })),
    ],
  },
  'without-effect': {
    fires: [
      [
        { tile: { config: { ...average, showOperandSeries: false } } },
        'dashboards.d.tiles["T"].config.showOperandSeries: has no effect without formulas',
      ],
    ],
    silent: [{ tile: { config: { ...average, formulas: [{ expression: 'A' }], showOperandSeries: false } } }],
  },
  'alert-without-channel': {
    fires: [[{ alert: { channel: undefined } }, 'alerts.a: has no channel, so it sends no notifications; add channel or channels']],
    silent: [{ alert: { channel: undefined, channels: [{ type: 'webhook', webhook: 'w' }] } }],
  },
  'empty-range': {
    fires: [
      [{ alert: { thresholdType: 'between' } }, 'alerts.a.thresholdType: between needs thresholdMax'],
      [{ alert: { thresholdType: 'not_between', thresholdMax: null } }, 'alerts.a.thresholdType: not_between needs thresholdMax'],
      [{ alert: { thresholdType: 'between', thresholdMax: 0 } }, 'alerts.a.thresholdMax: is below threshold, so the range is empty'],
    ],
    silent: [{ alert: { thresholdType: 'between', thresholdMax: 1 } }, { alert: { thresholdType: 'above', thresholdMax: 0 } }],
  },
  'threshold-never-fires': {
    fires: [
      [
        { alert: { threshold: 5 }, tile: { config: share } },
        'alerts.a.threshold: never fires: the share of all rows is at most 1; for 5%, write 0.05',
      ],
      [
        { alert: { threshold: 1, thresholdType: 'above_exclusive' }, tile: { config: share } },
        'alerts.a.threshold: never fires: the share of all rows is at most 1; for 1%, write 0.01',
      ],
      [
        {
          alert: { threshold: 1.5 },
          tile: { config: { ...share, asRatio: false, formulas: [{ expression: 'A' }, { expression: 'A / B' }] } },
        },
        'alerts.a.threshold: never fires: the share of all rows is at most 1; for 1.5%, write 0.015',
      ],
      [{ alert: { thresholdType: 'below', threshold: 0 } }, 'alerts.a.threshold: never fires: a count is never below 0'],
      [{ alert: { thresholdType: 'below_or_equal', threshold: -1 } }, 'alerts.a.threshold: never fires: a count is never -1 or less'],
      [{ alert: { thresholdType: 'equal', threshold: -1 } }, 'alerts.a.threshold: never fires: a count is never -1'],
      [
        { alert: { thresholdType: 'between', threshold: -2, thresholdMax: -1 } },
        'alerts.a.threshold: never fires: a count is never between -2 and -1',
      ],
    ],
    silent: [
      { alert: { thresholdType: 'below_or_equal', threshold: 0 } },
      { alert: { thresholdType: 'below', threshold: 0 }, tile: { config: formula } },
      { alert: { thresholdType: 'below', threshold: 0 }, tile: { config: average } },
      { alert: { thresholdType: 'below', threshold: 0 }, tile: { config: countAndAverage } },
      { alert: { thresholdType: 'below', threshold: 0 }, tile: { config: delta } },
      { alert: { thresholdType: 'not_equal', threshold: -1 } },
      { alert: { threshold: 1 }, tile: { config: share } },
      { alert: { threshold: 0.99, thresholdType: 'above_exclusive' }, tile: { config: share } },
      ...[
        { ...share, asRatio: false },
        { ...share, asRatio: false, formulas: [{ expression: 'A / B' }, { expression: 'A' }] },
        { ...share, select: [...share.select, { aggFn: 'count' }] },
        { ...share, select: share.select.toReversed() },
        { ...share, select: [{ aggFn: 'sum', valueExpression: 'Size' }, { aggFn: 'count' }] },
        { ...share, select: [{ aggFn: 'count' }, { aggFn: 'avg', valueExpression: 'Size' }] },
      ].map((config) => ({ alert: { threshold: 5 }, tile: { config } })),
    ],
  },
  'offset-beyond-interval': {
    fires: [
      [{ alert: { scheduleOffsetMinutes: 5 } }, 'alerts.a.scheduleOffsetMinutes: must be less than the interval of 5m'],
      [{ alert: { scheduleOffsetMinutes: 1, interval: '1m' } }, 'alerts.a.scheduleOffsetMinutes: must be less than the interval of 1m'],
    ],
    silent: [{ alert: { scheduleOffsetMinutes: 0, interval: '1m' } }, { alert: { scheduleOffsetMinutes: null } }],
  },
  'sql-in-lucene': {
    fires: [
      [
        {
          tile: {
            config: {
              displayType: 'line',
              source: 'Logs',
              select: [{ aggFn: 'count' }, { aggFn: 'count', where: "SeverityText = 'error'" }],
            },
          },
        },
        'dashboards.d.tiles["T"].config.select[1].where: has SQL (SeverityText =) in a condition in Lucene, so the server searches its words in the text; write SeverityText:"error", or set whereLanguage: sql',
      ],
      ...(
        [
          ["Body == 'payment failed'", 'Body ==', 'write Body:"payment failed", or set whereLanguage: sql'],
          ["Body = 'it''s'", 'Body =', 'set whereLanguage: sql'],
          ["SeverityText > 'a'", 'SeverityText >', 'set whereLanguage: sql'],
          ['SeverityNumber = 17', 'SeverityNumber =', 'write SeverityNumber:17, or set whereLanguage: sql'],
          ['ServiceName:cart AND Duration >= 100', 'Duration >=', 'write Duration:>=100, or set whereLanguage: sql'],
          ['ServiceName:cart AND Timestamp > now() - 5', 'Timestamp >', 'set whereLanguage: sql'],
          ["ServiceName != 'cart'", 'ServiceName !=', 'set whereLanguage: sql'],
        ] as const
      ).map(
        ([where, sql, advice]) =>
          [
            { tile: { config: { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count', where }] } } },
            `dashboards.d.tiles["T"].config.select[0].where: has SQL (${sql}) in a condition in Lucene, so the server searches its words in the text; ${advice}`,
          ] as const,
      ),
    ],
    silent: [
      {
        tile: {
          config: {
            displayType: 'line',
            source: 'Logs',
            select: [{ aggFn: 'count', where: "SeverityText = 'error'", whereLanguage: 'sql' }],
          },
        },
      },
      { tile: { config: { displayType: 'line', source: 'Logs', select: [{ aggFn: 'count', where: 'SeverityText:error' }] } } },
    ],
  },
  'receiver-limit': {
    fires: [
      [
        {
          alert: { name: 'x'.repeat(128), channel: { type: 'webhook', webhook: 'opsgenie' } },
          more: { webhooks: { opsgenie: { name: 'pager', service: 'generic', urlFrom: 'WEBHOOK_URL' } } },
        },
        'alerts.a.name: Opsgenie can get more characters than it accepts; shorten it to 127',
      ],
    ],
    silent: [
      {
        alert: { name: 'x'.repeat(127), channel: { type: 'webhook', webhook: 'opsgenie' } },
        more: { webhooks: { opsgenie: { name: 'pager', service: 'generic', urlFrom: 'WEBHOOK_URL' } } },
      },
      { alert: { name: 'x'.repeat(300) } },
    ],
  },
  'unset-variable': {
    fires: [
      [
        {
          dashboard: {
            filters: [{ type: 'QUERY_EXPRESSION', name: 'service', expression: 'ServiceName', sourceId: 's', isVariableEnabled: true }],
          },
          tile: {
            config: {
              configType: 'sql',
              displayType: 'number',
              connectionId: 'c',
              sqlTemplate: 'SELECT count() FROM a WHERE s = $service',
            },
          },
        },
        'alerts.a.tile: compares with $service, which is NULL in an alert because nothing is selected, so it never matches; use $__filter(column, $service)',
      ],
    ],
    silent: [
      {
        tile: {
          config: {
            configType: 'sql',
            displayType: 'number',
            connectionId: 'c',
            sqlTemplate: 'SELECT count() FROM a WHERE $__filter(s, $service)',
          },
        },
      },
    ],
  },
  'mention-in-message': {
    fires: [
      [
        { alert: { message: 'Call @anna' } },
        'alerts.a.message: the server removes "@anna" from each notification, and stores an error; write it without @, or in brackets: (@anna)',
      ],
      [
        { alert: { message: '@here' } },
        'alerts.a.message: the server removes "@here" from each notification, and stores an error; write it without @, or in brackets: (@here)',
      ],
    ],
    silent: [{ alert: { message: 'Mail anna@example.com, (@anna), or @webhook-oncall, @ home' } }, {}],
  },
  'split-windows': {
    fires: [
      ...[1, 4].map(
        (scheduleOffsetMinutes) =>
          [{ alert: { scheduleOffsetMinutes } }, `alerts.a.scheduleOffsetMinutes: ${split('5m')}; remove the offset`] as const,
      ),
      [{ alert: { scheduleOffsetMinutes: 1439, interval: '1d' } }, `alerts.a.scheduleOffsetMinutes: ${split('1d')}; remove the offset`],
      [{ alert: { scheduleStartAt: '2026-11-09T10:02:00Z' } }, `alerts.a.scheduleStartAt: ${split('5m')}; use a multiple of the interval`],
    ],
    silent: [
      { alert: { scheduleOffsetMinutes: 0 } },
      { alert: { scheduleStartAt: '2026-11-09T10:05:00Z' } },
      { alert: { scheduleStartAt: '2026-11-09T01:00:00+01:00', interval: '1d' } },
    ],
  },
  'fires-on-silence': {
    fires: [
      [{ tile: { config: average }, alert: { thresholdType: 'below' } }, onSilence],
      [{ tile: { config: average }, alert: { thresholdType: 'below_or_equal', threshold: 0 } }, onSilence],
      [{ tile: { config: { ...countAndAverage, asRatio: true } }, alert: { thresholdType: 'below' } }, onSilence],
    ],
    silent: [
      { tile: { config: average } },
      { tile: { config: average }, alert: { thresholdType: 'below', threshold: 0 } },
      { tile: { config: countAndAverage }, alert: { thresholdType: 'below' } },
      { alert: { thresholdType: 'below' } },
    ],
  },
  'silent-groups': {
    fires: [
      [{ tile: { config: { ...average, groupBy: 'x' } }, alert: { thresholdType: 'below' } }, silentGroups],
      [{ tile: { config: { ...countAndAverage, groupBy: 'x' } }, alert: { thresholdType: 'below' } }, silentGroups],
    ],
    silent: [{ tile: { config: { ...average, groupBy: 'x' } } }, { tile: { config: { ...average, groupBy: '' } } }],
  },
  'implausible-duration': {
    fires: [
      [
        { alert: { threshold: 1500 }, tile: { config: latency } },
        'alerts.a.threshold: 1500 is implausible: the tile shows durations in nanoseconds, so a second is 1000000000',
      ],
      [
        { alert: { threshold: 9e13 }, tile: { config: latency } },
        'alerts.a.threshold: 90000000000000 is implausible: the tile shows durations in nanoseconds, so a second is 1000000000',
      ],
    ],
    silent: [
      { alert: { threshold: 1_500_000_000 }, tile: { config: latency } },
      ...[0, 1_000_000, 86_400 * 1e9].map((threshold) => ({ alert: { threshold }, tile: { config: latency } })),
      { alert: { threshold: 1.5 }, tile: { config: { ...latency, select: [{ ...p99, valueExpression: 'Duration / 1e9' }] } } },
      { alert: { threshold: 1.5 }, tile: { config: { ...latency, select: [p99, p99], asRatio: true } } },
      { alert: { threshold: 1.5 }, tile: { config: { ...latency, select: [{ aggFn: 'count_distinct', valueExpression: 'Duration' }] } } },
    ],
  },
  'quantile-without-level': {
    fires: [
      [
        { tile: { config: { ...latency, select: [{ aggFn: 'quantile', valueExpression: 'x' }] } } },
        'dashboards.d.tiles["T"].config.select[0]: a quantile needs a level: 0.5, 0.9, 0.95 or 0.99',
      ],
    ],
    silent: [{ alert: { threshold: 1e9 }, tile: { config: latency } }],
  },
  'tile-outside-grid': {
    fires: [
      [{ tile: { x: 20, w: 6 } }, 'dashboards.d.tiles["T"]: ends at column 26, but the grid has 24 columns; move it or make it narrower'],
    ],
    silent: [{ tile: { x: 18, w: 6 } }],
  },
  'overlapping-tiles': {
    fires: [[{ dashboard: { tiles: [at('T', 0, 0), at('U', 5, 3)] } }, 'dashboards.d.tiles["U"]: overlaps the tile "T"']],
    silent: [
      { dashboard: { tiles: [at('T', 0, 0), at('U', 6, 0), at('V', 0, 4)] } },
      { dashboard: { tiles: [at('T', 0, 0), { ...at('U', 0, 0), containerId: 'c' }], containers: [{ id: 'c', title: 'C' }] } },
    ],
  },
  'name-as-id': {
    fires: [
      [
        { tile: { config: { ...average, sourceId: 'Logs' } } },
        'dashboards.d.tiles["T"].config.sourceId: "Logs" looks like a name; write source: Logs',
      ],
      [
        { more: { savedSearches: { s: { name: 'S', sourceId: 'my logs' } } } },
        'savedSearches.s.sourceId: "my logs" looks like a name; write source: my logs',
      ],
    ],
    silent: [
      { tile: { config: { ...average, sourceId: '65f5e4a35eedc0de0000000c' } } },
      { tile: { config: { ...average, sourceId: undefined, source: 'Logs' } } },
      { tile: { config: { ...average, sourceId: { source: 'Logs' } } } },
    ],
  },
  'duplicate-name': {
    fires: [[twin({}), 'alerts.b.name: a has the same name "A"']],
    silent: [twin({ name: 'B' }), nameless, { alert: { name: 'D' } }],
  },
  'trimmed-name': {
    fires: [
      [
        { more: { savedSearches: { s: { name: 'S ', sourceId: 's' } } } },
        'savedSearches.s.name: has blanks at its ends; the server removes them',
      ],
      [
        { more: { webhooks: { w: { name: '\tW', service: 'slack', urlFrom: 'WEBHOOK_URL' } } } },
        'webhooks.w.name: has blanks at its ends; the server removes them',
      ],
    ],
    silent: [{ more: { savedSearches: { s: { name: 'S s', sourceId: 's' } } } }, { alert: { name: ' A ' } }, { dashboard: { name: 'D ' } }],
  },
  'shell-variable': {
    fires: [
      [
        { alert: { name: `Errors in \${STAGE}` } },
        `alerts.a.name: has \${STAGE}, which stays as it is; write \${{ env.STAGE }} for the variable WATCHKEEPER_VAR_STAGE`,
      ],
    ],
    silent: [{ alert: { name: `More than $5 of \${ 1 }` } }, nameless],
  },
  'missing-runbook': {
    fires: [
      [{ alert: { note: undefined } }, 'alerts.a: has no note; describe what the person on call should do'],
      [{ alert: { note: null } }, 'alerts.a: has no note; describe what the person on call should do'],
    ],
    silent: [{}],
  },
  'dashboard-without-tags': {
    fires: [
      [{ dashboard: { tags: undefined } }, 'dashboards.d: has no tags'],
      [{ dashboard: { tags: [] } }, 'dashboards.d: has no tags'],
    ],
    silent: [{}],
  },
}

describe.each(Object.entries(cases) as [LintRule, Case][])('%s', (rule, { fires, silent }) => {
  it.each(fires)('fires, and nothing else does: %j', (changes, message) => {
    expect(lintValue(fileWith(changes))).toEqual([`${rule}: ${message}`])
  })

  it.each(silent)('stays silent: %j', (changes) => {
    expect(lintValue(fileWith(changes))).toEqual([])
  })

  it('a rule has a severity that can be set, or turned off', () => {
    const [first] = fires
    const read = readValue(fileWith(first?.[0]))
    const severities = (['error', 'warning', 'note', 'off'] as const).map((severity) => lint(read, { [rule]: severity })[0]?.severity)
    expect(severities).toEqual(['error', 'warning', 'note', undefined])
    expect(lint(read, {})[0]?.severity).toBe(lintRules[rule].severity)
  })
})

it('a diagnostic has the location of the field, or of the object when the field is missing', () => {
  const read = readText('alerts:\n  a:\n    name: A\n    threshold: 1\n    interval: 5m\n    scheduleOffsetMinutes: 9\n')
  const places = Object.fromEntries(lines(lint(read, {})).map((line) => [/ ([\w-]+):/.exec(line)?.[1], line.split(' ')[0]]))
  expect(places).toEqual({
    'alert-without-channel': 'f.yml:2:3',
    'offset-beyond-interval': 'f.yml:6:28',
    'missing-runbook': 'f.yml:2:3',
  })
})

it('never calls two objects of different kinds by one name', () => {
  expect(lintValue(fileWith({ alert: { name: 'D' } }))).toEqual([])
})
