import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { declaredAlert } from '../../../../src/kinds/alert/alert.ts'
import { InputError } from '../../../../src/platform/core/errors.ts'
import { type RuleInFile, readCondition, readImportedFile, toSeconds } from '../../../../src/tools/import/grafana-file.ts'
import { toAlertSql } from '../../../../src/tools/import/shape.ts'
import { translateTime } from '../../../../src/tools/import/time.ts'
import { type ImportOutcome, translateRule } from '../../../../src/tools/import/translate.ts'
import { forEachEntry } from '../../../support/corpus.ts'
import { mutate, randomFrom } from '../../../support/random.ts'

const text = readFileSync(new URL('rules.yml', import.meta.url), 'utf8')

const choices = {
  connections: new Map([['clickhouse', 'Local ClickHouse']]),
  webhooks: new Map([
    ['*', 'oncall'],
    ['slack', 'chat'],
  ]),
}

const { rules, notes } = readImportedFile(text, 'rules.yml')

const outcomes = await Promise.all(rules.map((rule) => translateRule(rule, choices)))

function titled(title: string): ImportOutcome {
  const found = outcomes.find((one) => one.title.endsWith(`: ${title}`))
  if (found === undefined) throw new Error(`no rule ${title}`)
  return found
}

const alertOf = (title: string) => titled(title).translated?.alert

const sqlOf = (title: string): string | undefined => alertOf(title)?.query.sql

describe('the rules of the corpus', () => {
  it('have the class that their titles state', () =>
    forEachEntry(outcomes, ({ title, result, differences, reason }) => {
      expect({ title, result, differences, reason }).toMatchObject({ result: title.split(':')[0] })
      expect(differences.length > 0).toBe(result === 'changed')
      expect(reason === undefined).toBe(result !== 'refused')
    }))

  it('are more than forty, of every class', () => {
    const counts = Map.groupBy(outcomes, ({ result }) => result)
    expect(Object.fromEntries([...counts].map(([result, all]) => [result, all.length]))).toEqual({
      exact: 33,
      changed: 22,
      refused: 19,
      paused: 1,
    })
  })

  it('become alerts whose fields other than the query are valid', () =>
    forEachEntry(outcomes, ({ translated }) => {
      const query = z.strictObject({ sql: z.string(), connection: z.string() })
      if (translated !== undefined) expect(() => declaredAlert.extend({ query }).parse(translated.alert)).not.toThrow()
    }))
})

describe('a condition that is not whole', () => {
  const read = (model: object, condition: string | undefined = 'B') => {
    const query = { refId: 'A', datasourceUid: 'clickhouse', model: { rawSql: 'SELECT 1' } }
    const data = [
      query,
      { refId: 'B', datasourceUid: '__expr__', model: { conditions: [{ evaluator: { type: 'gt', params: [1] } }], ...model } },
    ]
    return () => readCondition({ title: 'T', condition, data })
  }

  it('is refused with what it lacks', () => {
    for (const model of [{ type: 'threshold' }, { type: 'classic_conditions' }]) expect(read(model)).toThrow('B has no expression')
    expect(read({ type: 'threshold', expression: 'B' })).toThrow('the expression B of type threshold has no equivalent')
    expect(read({ type: 'threshold', expression: 'X' })).toThrow('its condition is about X, which is not in data')
    expect(read({ type: 'threshold', expression: 'A' })).not.toThrow()
  })
})

describe('a range of a condition', () => {
  const read = (type: 'threshold' | 'classic_conditions', evaluator: string, params: readonly number[]) => {
    const query = { refId: 'A', datasourceUid: 'clickhouse', model: { rawSql: 'SELECT 1' } }
    const condition = { evaluator: { type: evaluator, params }, query: { params: ['A'] }, reducer: { type: 'last' } }
    const model = { type, ...(type === 'threshold' && { expression: 'A' }), conditions: [condition] }
    return readCondition({ title: 'T', condition: 'B', data: [query, { refId: 'B', datasourceUid: '__expr__', model }] }).evaluator
  }

  it('a range of a classic condition has its ends in any order', () => {
    for (const params of [
      [10, 20],
      [20, 10],
    ]) {
      expect(read('classic_conditions', 'within_range', params)).toMatchObject({
        thresholdType: 'between',
        threshold: 10,
        thresholdMax: 20,
      })
      const outside = { thresholdType: 'not_between', threshold: 10, thresholdMax: 20 }
      expect(read('classic_conditions', 'outside_range', params)).toEqual(outside)
    }
  })

  it('a range of a threshold has its ends in one order, and is refused in the other one', () => {
    expect(read('threshold', 'within_range', [10, 10])).toMatchObject({ threshold: 10, thresholdMax: 10 })
    for (const evaluator of ['within_range', 'outside_range'])
      expect(() => read('threshold', evaluator, [20, 10])).toThrow('the range from 20 to 10 is in the wrong order')
  })
})

describe('a translated rule', () => {
  it('has the texts, and waits for one window more than the time has intervals', () => {
    expect(alertOf('count in the window')).toEqual({
      name: 'exact: count in the window',
      query: {
        sql: "SELECT count() AS errors FROM otel_logs WHERE $__timeFilter(Timestamp) AND SeverityText = 'error'",
        connection: 'Local ClickHouse',
      },
      thresholdType: 'above_exclusive',
      threshold: 10,
      interval: '5m',
      numConsecutiveWindows: 3,
      channel: { type: 'webhook', webhook: 'oncall' },
      message: 'Errors\n\nMany errors',
      note: 'runbook_url: https://wiki.example.com/errors\nLabels: severity: critical, team: shop\nGrafana dashboard: abc, panel 4\nGrafana rule: Shop / errors / r01',
    })
    expect(alertOf('silence')).not.toHaveProperty('numConsecutiveWindows')
  })

  it('has a title of 512 characters and texts of 3800 at most, and SQL of 30,000', async () => {
    const [first] = rules
    const whole = first?.value as { readonly title: string; readonly data: readonly { readonly model: { readonly rawSql?: string } }[] }
    const withFields = (fields: object) => translateRule({ ...(first as RuleInFile), value: { ...whole, ...fields } }, choices)
    const [longest, tooLong] = ['x'.repeat(512), 'x'.repeat(513)]
    expect((await withFields({ title: longest })).translated?.alert.name).toBe(longest)
    expect((await withFields({ title: tooLong })).reason).toBe('the title has more than 512 characters')
    const described = async (length: number) => {
      const { translated, differences } = await withFields({ annotations: { description: `${'x'.repeat(length - 2)}😀` } })
      return [translated?.alert.message, differences]
    }
    expect(await described(3800)).toEqual([`${'x'.repeat(3798)}😀`, []])
    // No half of a letter stays.
    expect(await described(3801)).toEqual([`${'x'.repeat(3799)}\ufffd`, ['a text is cut at 3800 characters']])
    const queried = async (length: number) => {
      const data = whole.data.map((one) =>
        one.model.rawSql === undefined ? one : { ...one, model: { ...one.model, rawSql: one.model.rawSql.padEnd(length, ' ') } },
      )
      return (await withFields({ data })).reason
    }
    expect([await queried(30_000), await queried(30_001)]).toEqual([undefined, 'the query has more than 30,000 characters'])
  })

  it('keeps a time range that is not the interval', () => {
    expect(sqlOf('time range')).toBe(
      'SELECT count() FROM otel_logs WHERE Timestamp >= toDateTime(fromUnixTimestamp64Milli({endDateMilliseconds:Int64} - 900000)) AND Timestamp <= toDateTime(fromUnixTimestamp64Milli({endDateMilliseconds:Int64} - 60000))',
    )
    expect(titled('time range').differences).toEqual(['the query keeps its time range, 15m to 1m before an evaluation; the interval is 5m'])
  })

  it('compares whole numbers inside of a range without its ends', () => {
    expect(alertOf('within a range of whole numbers')).toMatchObject({ threshold: 3, thresholdMax: 6, thresholdType: 'between' })
    expect(alertOf('borders')).toMatchObject({ threshold: 100, thresholdMax: 150, thresholdType: 'between' })
    expect(titled('borders').differences).toEqual(['100 and 150 fire, too; Grafana left them out (within_range)'])
    expect(alertOf('outside of a range')).toMatchObject({ threshold: 50, thresholdMax: 70, thresholdType: 'not_between' })
  })

  it('converts what the server does not take for a number', () => {
    expect(sqlOf('decimal')).toContain('SELECT toFloat64(sum(toDecimal64(Duration, 2))) AS total FROM')
    expect(sqlOf('ratio')).toMatch(/^SELECT countIf\(/)
  })

  it('takes no word of an expression for an alias', () =>
    forEachEntry(
      [
        ['max(a) > 1 OR isError', 'toFloat64(max(a) > 1 OR isError)'],
        ['max(a) IS NULL', 'toFloat64(max(a) IS NULL)'],
        ['max(a) biggest', 'toFloat64(max(a)) AS biggest'],
        ['max(a) AS `it is`', 'toFloat64(max(a)) AS `it is`'],
        ['max(t.a)', 'toFloat64(max(t.a))'],
        ['CASE WHEN max(a) > 1 THEN 1 ELSE 0 END', 'toFloat64(CASE WHEN max(a) > 1 THEN 1 ELSE 0 END)'],
      ],
      (given, wanted) => expect(toAlertSql(`SELECT ${given} FROM x`, undefined, undefined).sql).toBe(`SELECT ${wanted} FROM x`),
    ))

  it('is the same in any order of rows without times, each of which is an alert instance', () => {
    const sql = 'SELECT ServiceName AS service, max(Duration) AS value FROM otel_traces WHERE $__timeFilter(ts) GROUP BY service'
    const last = { reducer: 'last', mode: 'strict' } as const
    const anyOrder = toAlertSql(sql, last, undefined, true)
    expect(anyOrder).not.toHaveProperty('unsorted')
    for (const order of ['value DESC', 'value DESC LIMIT 5', 'service', '2 DESC'])
      expect(toAlertSql(`${sql} ORDER BY ${order}`, last, undefined, true)).toEqual({
        ...anyOrder,
        sql: anyOrder.sql.replace('GROUP BY service', `GROUP BY service ORDER BY ${order}`),
      })
  })

  it('is refused for a Bool, which Grafana takes for no number', () => {
    expect(() => toAlertSql('SELECT toBool(countIf(bytes > 4900) > 3) AS b FROM x', undefined, undefined)).toThrow(
      'takes no Bool for a number',
    )
    expect(toAlertSql('SELECT toBool(max(a) > 3) + 1 AS b FROM x', undefined, undefined)).toMatchObject({ isGrouped: false })
  })

  it('may have no row where a limit is not 1, and always has a number for a count without a limit', () =>
    forEachEntry<[string, string]>(
      [
        ['', 'never'],
        [' LIMIT 1', 'never'],
        [' LIMIT 0', 'rows'],
        [' LIMIT 1 OFFSET 1', 'rows'],
      ],
      (end, missing) => expect(toAlertSql(`SELECT count() FROM x${end}`, undefined, undefined).missing).toBe(missing),
    ))

  it('skips what is not a number in a classic condition, and what is not finite where a reducer drops it', () => {
    const reduced = (mode: 'classic' | 'dropNN') => toAlertSql('SELECT time, v FROM x', { reducer: 'max', mode }, undefined).sql
    expect(reduced('classic')).toContain('maxIf(toFloat64(v), NOT isNaN(ifNull(toFloat64(v), nan)))')
    expect(reduced('dropNN')).toContain('maxIf(toFloat64(v), isFinite(ifNull(toFloat64(v), nan)))')
  })

  it('gives each group the time of its window', () => {
    expect(sqlOf('groups')).toBe(`SELECT
  toStartOfInterval(fromUnixTimestamp64Milli({endDateMilliseconds:Int64} - 1), INTERVAL {intervalSeconds:Int64} second) AS "Window start",
  ifNull(toString(ServiceName), '') AS ServiceName,
  ifNull(toString(level), '') AS level,
  c AS "Value"
FROM (
SELECT ServiceName, SeverityText AS level, count() AS c FROM otel_logs WHERE $__timeFilter(Timestamp) GROUP BY ServiceName, level
)`)
    expect(alertOf('groups')).toMatchObject({ message: 'Errors of {{group}}: {{value}}' })
  })

  it('takes the last row of a series in the order of the query', () => {
    expect(sqlOf('last of a series')).toContain('argMax(')
    expect(sqlOf('last of a descending series')).toContain('argMin(ifNull(toFloat64(c), nan), t)')
    const orders: readonly (readonly [string, string | undefined])[] = [
      ['ORDER BY t', 'argMax'],
      ['ORDER BY 1 DESC', 'argMin'],
      ['ORDER BY toStartOfMinute(ts) desc', 'argMin'],
      ['ORDER BY `t` DESC NULLS LAST LIMIT 5', 'argMin'],
      ['ORDER BY t ASC WITH FILL STEP 60', 'argMax'],
      ['ORDER BY v, t', undefined],
      ['ORDER BY -t', undefined],
      ['', undefined],
    ]
    return forEachEntry<readonly [string, string | undefined]>(orders, (order, name) => {
      const last = { reducer: 'last', mode: 'strict' } as const
      const { sql, unsorted } = toAlertSql(`SELECT toStartOfMinute(ts) AS t, max(v) AS v FROM x GROUP BY t ${order}`, last, undefined)
      expect(sql).toContain(`${name ?? 'argMax'}(`)
      expect(unsorted === undefined).toBe(name !== undefined)
    })
  })

  it('takes the earliest or latest time of a group for its time, where another column has its value', () => {
    const { sql } = toAlertSql('SELECT min(ts) AS time, max(v) AS v FROM x GROUP BY k', { reducer: 'last', mode: 'strict' }, undefined)
    expect(sql).toContain('argMax(ifNull(toFloat64(v), nan), time)')
    expect(() => toAlertSql('SELECT min(a) AS a, max(v) AS v FROM x GROUP BY k', undefined, undefined)).toThrow('unclear')
  })

  it('names each difference in a sentence', () => {
    const unless = (types: string) => `fails in Grafana, or has other values, unless ${types}; check: true tells`
    const shown = outcomes
      .filter(({ result }) => result === 'changed')
      .map(({ title, differences }) => [title.replace(/^.*?: /, ''), ...differences])
    expect(shown).toEqual([
      ['classic worst series', unless('s is a text')],
      ['NaN as a number', unless('v is a number')],
      ['time range', 'the query keeps its time range, 15m to 1m before an evaluation; the interval is 5m'],
      [
        'groups',
        unless('ServiceName is a text and level is a text'),
        'the texts have {{value}}, {{group}} or … in place of {{ $labels.ServiceName }} {{ $values.A }}',
        'a group without rows is OK at once; Grafana waited for two evaluations',
      ],
      [
        'groups of a series',
        unless('ServiceName is a text and v is a number'),
        'a group without rows is OK at once; Grafana waited for two evaluations',
      ],
      ['no data alerted', unless('avg(Duration) is a number'), 'no data counts as 0; Grafana alerted (noDataState: Alerting)'],
      ['no data fires', unless('avg(Duration) is a number'), 'no data counts as 0, which fires; Grafana did not alert (noDataState: OK)'],
      ['failing query', 'a failing query keeps the last state; Grafana had another one (execErrState: Error)'],
      ['borders', '100 and 150 fire, too; Grafana left them out (within_range)'],
      [
        'notification settings',
        'notifies at each violated window; Grafana had repeat_interval: "4h"',
        'keepFiringFor has no equivalent; Grafana had "5m"',
      ],
      ['later rows', 'rows after the end of a window count, too, so that a late evaluation and a backtest can have other values'],
      ['recovery', 'is OK again when its threshold holds no more; Grafana waited for {"type":"lt","params":[50]} (unloadEvaluator)'],
      ['unused query', 'Z is left out, because the condition does not use it'],
      ['every number but 0', 'no data counts as 0; Grafana did not alert (noDataState: OK)'],
      [
        'a row of a view',
        unless('total_rows is a number'),
        'the query may have several rows, of which the first counts; Grafana would fail',
      ],
      [
        'evaluated less often',
        'evaluated every 1m; Grafana did every 10s',
        'fires 1m after the first violation; Grafana did after 30s (for: 30s)',
      ],
      [
        'silent groups',
        unless('ServiceName is a text'),
        'a group without rows keeps its state; Grafana waited for two evaluations',
        'no data of all groups counts as 0, which fires; Grafana did not alert (noDataState: OK)',
      ],
      [
        'groups alerted',
        unless('ServiceName is a text'),
        'a group without rows is OK at once; Grafana waited for two evaluations',
        'no data of all groups counts as 0; Grafana alerted (noDataState: Alerting)',
      ],
      [
        'last without order',
        'the row with the latest time is the last one; the query does not sort by time, and Grafana took its last row',
      ],
      [
        'labels without order',
        'the query does not sort by time first, and Grafana failed where its rows came in another order',
        unless('ServiceName is a text'),
        'a group without rows is OK at once; Grafana waited for two evaluations',
      ],
      ['negated time', 'rows after the end of a window count, too, so that a late evaluation and a backtest can have other values'],
      [
        'another pending time',
        'evaluated every 5m; Grafana did every 2m',
        'fires 5m after the first violation; Grafana did after 4m (for: 3m)',
      ],
    ])
  })

  it('says why it is refused, and what to do', () => {
    const shown = outcomes.flatMap(({ title, reason }) => (reason === undefined ? [] : [[title.slice(9), reason.slice(0, 110)]]))
    expect(shown).toEqual([
      ['math', 'the expression C of type math has no equivalent: $A > 3. Write it in the SQL of one query'],
      ['two conditions', 'the condition combines 2: and last("A") gt 1; or avg("A") lt 3. Make a rule for each'],
      ['Prometheus', 'A reads a data source of type prometheus; leave the rule in Grafana'],
      ['another data source', 'the data source elsewhere has no connection; if it is ClickHouse, set connection: elsewhere=NAME'],
      ['macro', 'the macro $__columns has no equivalent; write its SQL'],
      ['variable', 'the query uses a variable of a dashboard; write its value'],
      ['all columns', expect.stringContaining('the query selects all columns; select one number')],
      ['logs', 'the query returns logs or traces, and no number'],
      ['several numbers', expect.stringContaining('the columns of the query are unclear; select one number')],
      ['median', 'the reducer median has no equivalent; use one of last, mean, min, max, sum, count'],
      ['a series without reduce', 'the threshold is for a series over time; add a reduce expression'],
      ['contact point', 'the contact point nobody has no webhook; set webhook: nobody=NAME'],
      ['settings', 'its SQL has SETTINGS max_threads; leave that out, or write `SETTINGS` in backticks where it is a name'],
      ['recording', 'a recording rule sends no notification; leave it in Grafana'],
      ['empty range', 'no whole number is between 2 and 3'],
      ['rows without labels', expect.stringContaining('the query has several rows without labels; select one number')],
      ['descending labels', 'the rule always fails in Grafana, because rows with labels must have ascending times; correct its ORDER BY'],
      [
        'a table of series',
        expect.stringContaining('the rule always fails in Grafana, because a table with times and labels is not a series'),
      ],
      ['too rare', 'the group is evaluated less often than once a day, the longest interval'],
    ])
  })
})

describe('functions of the present', () => {
  const end = 'E'
  const translated = (sql: string) => translateTime(sql, { macro: () => undefined, end })

  it('become the end of the window, with their types', () =>
    forEachEntry(
      [
        ['now()', 'toDateTime(E)'],
        ["NOW('UTC')", "toDateTime(E, 'UTC')"],
        ['now64()', 'E'],
        ["now64(6, 'UTC')", "toDateTime64(E, 6, 'UTC')"],
        ['CURRENT_TIMESTAMP', 'toDateTime(E)'],
        ['current_timestamp()', 'toDateTime(E)'],
        ['today()', 'toDate(E)'],
        ['yesterday()', '(toDate(E) - 1)'],
        ['UTCTimestamp()', "toDateTime(E, 'UTC')"],
        ["'now()'", "'now()'"],
        ['t.now', 't.now'],
        ['knownow(1)', 'knownow(1)'],
      ],
      (given, wanted) => expect(translated(`SELECT ${given} AS t`).sql).toBe(`SELECT ${wanted} AS t`),
    ))

  it('exclude rows after the window where a column is compared with them', () =>
    forEachEntry<readonly [string, string]>(
      [
        ['WHERE ts >= now() - 60', 'WHERE ts <= toDateTime(E) AND ts >= toDateTime(E) - 60'],
        [
          'WHERE a AND `ts` > now64(3) - INTERVAL 5 MINUTE',
          'WHERE a AND `ts` <= toDateTime(E) AND `ts` > toDateTime64(E, 3) - INTERVAL 5 MINUTE',
        ],
        ['WHERE (t.ts > subtractMinutes(now(), 5))', 'WHERE (t.ts <= toDateTime(E) AND t.ts > subtractMinutes(toDateTime(E), 5))'],
        ['WHERE s > toUnixTimestamp(now()) - 60', 'WHERE s <= toUnixTimestamp(toDateTime(E)) AND s > toUnixTimestamp(toDateTime(E)) - 60'],
        ['HAVING max(ts) < now() - 60', 'HAVING maxIf(ts, ts <= toDateTime(E)) < toDateTime(E) - 60'],
        ['WHERE ts BETWEEN now() - 60 AND now()', 'WHERE ts BETWEEN toDateTime(E) - 60 AND toDateTime(E)'],
        ['WHERE ts < now() - 60', 'WHERE ts < toDateTime(E) - 60'],
        ...['date_sub(MINUTE, 5, now())', "dateSub('minute', 5, now())", 'timestamp_sub(SECOND, 60, now())'].map((since) => {
          return [`WHERE ts >= ${since}`, `WHERE ts <= toDateTime(E) AND ts >= ${since.replace('now()', 'toDateTime(E)')}`] as const
        }),
        ['WHERE a AND (b OR (ts > now()))', 'WHERE a AND (b OR (ts <= toDateTime(E) AND ts > toDateTime(E)))'],
        ['WHERE (SELECT countIf(ts > now()) FROM y) = 0', 'WHERE (SELECT countIf(ts <= toDateTime(E) AND ts > toDateTime(E)) FROM y) = 0'],
        [
          'HAVING sum(CASE WHEN ts > now() THEN 1 ELSE 0 END) > 3',
          'HAVING sum(CASE WHEN ts <= toDateTime(E) AND ts > toDateTime(E) THEN 1 ELSE 0 END) > 3',
        ],
      ],
      (given, wanted) => {
        const { sql, readsLater } = translated(`SELECT now() AS t, dateDiff('second', max(ts), now()) FROM x ${given}`)
        expect(sql).toBe(`SELECT toDateTime(E) AS t, dateDiff('second', maxIf(ts, ts <= toDateTime(E)), toDateTime(E)) FROM x ${wanted}`)
        expect([given, readsLater]).toEqual([given, false])
      },
    ))

  it('are reported where later rows may count', () =>
    forEachEntry(
      [
        'WHERE toDate(ts) = today()',
        'WHERE day >= today() - 1',
        'WHERE d >= today()',
        'WHERE NOT ts >= now() - 60',
        'WHERE a + ts >= now() - 60',
        "WHERE dateDiff('minute', ts, now()) < 5",
        'HAVING min(ts) > now() - 60',
        'WHERE (ts >= now() - 60) = 0',
        'WHERE 0 = (ts >= now() - 60)',
        'WHERE NOT (a AND ts >= now() - 60)',
        'WHERE (a AND (ts >= now() - 60)) IS FALSE',
        'HAVING sum(if(ts >= now() - 60, 0, 1)) > 3',
        'HAVING sum(CASE WHEN ts >= now() - 60 THEN 0 ELSE 1 END) > 3',
        'HAVING avg(ts >= now() - 60) > 0.5',
      ],
      (clause) => expect([clause, translated(`SELECT count() FROM x ${clause}`).readsLater]).toEqual([clause, true]),
    ))
})

describe('a file of Grafana', () => {
  const [first] = rules

  it('names what stays in Grafana, and the place of each rule', () => {
    expect(notes).toEqual(['rules.yml: contactPoints stays in Grafana'])
    expect(first).toMatchObject({ group: 'errors', folder: 'Shop', interval: '5m', location: 'rules.yml:9:9' })
  })

  it('can be a group or rules of the API', async () => {
    const rule = { ...(first?.value as object), ruleGroup: 'errors', folderUID: 'abc', orgID: 1 }
    const group = readImportedFile(JSON.stringify({ title: 'errors', folderUid: 'abc', interval: 300, rules: [rule] }), 'group.json')
    expect(await Promise.all(group.rules.map((one) => translateRule(one, choices)))).toMatchObject([{ result: 'exact' }])
    const list = readImportedFile(JSON.stringify([rule]), 'list.json')
    expect(list.rules).toMatchObject([{ group: 'errors', folder: 'abc', location: 'list.json:1:2' }])
    expect(await Promise.all(list.rules.map((one) => translateRule(one, choices)))).toMatchObject([
      { reason: expect.stringContaining('no interval of its group') },
    ])
  })

  it('must have rules, unless it has other parts of a provisioning', () => {
    expect(() => readImportedFile('panels: []', 'a.yml')).toThrow('a.yml: has no groups of alert rules')
    const sloth = 'service: shop\nslos: [{ name: availability, objective: 99.9 }]'
    for (const [file, content, reason] of [
      ['a.yml', 'apiVersion: openslo/v1\nkind: SLO\nspec: { service: api }', /is an SLO of OpenSLO; declare it as in https:.*slos\.md$/],
      ['a.yml', `version: prometheus/v1\n${sloth}`, /is an SLO of Sloth; declare it as in https:.*slos\.md$/],
      ['a.yml', 'apiVersion: sloth.slok.dev/v1\nkind: PrometheusServiceLevel\nspec: { service: api }', /is an SLO of Sloth;/],
      ['a.tf', 'import { to = a.b }', /is a file of Terraform; watchkeeper pull writes the objects of the service to files$/],
    ] as const)
      expect(() => readImportedFile(content, file)).toThrow(reason)
    expect(readImportedFile('apiVersion: 1\npolicies: []', 'a.yml')).toEqual({ rules: [], notes: ['a.yml: policies stays in Grafana'] })
  })

  it('has durations of Prometheus, and numbers of seconds', () => {
    expect(['1m30s', '90', 90, '1d', '1w', '1y', '0s', '500ms', 'soon', '', null, '-5m'].map(toSeconds)).toEqual([
      90,
      90,
      90,
      86_400,
      604_800,
      31_536_000,
      0,
      0.5,
      ...Array(4),
    ])
  })
})

describe('a broken file', () => {
  it('never ends the translation with another error than a reason', { tags: 'slow' }, async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = randomFrom(seed)
      for (const rule of rules) {
        const given: RuleInFile = { ...rule, value: mutate(rule.value, random), interval: mutate(rule.interval, random) }
        await expect(translateRule(given, choices), `seed ${seed}: ${JSON.stringify(given)}`).resolves.toBeDefined()
      }
    }
  })

  it('is an input error, or has rules', async () => {
    const [head = '', ...all] = text.split(/^(?= {6}- uid: )/m)
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomFrom(seed)
      // Few rules, because a broken file takes as long to read as a whole one.
      const few = head + all.slice(seed, seed + 6).join('')
      const [from, until] = [random() * few.length, random() * few.length]
      const broken = seed % 2 === 0 ? few.slice(0, until) : few.slice(0, from) + few.slice(from + random() * 60)
      try {
        for (const rule of readImportedFile(broken, 'a.yml').rules) await translateRule(rule, choices)
      } catch (thrown) {
        expect(thrown, `seed ${seed}`).toBeInstanceOf(InputError)
      }
    }
  })
})

it('an expression is known to be a number only where it is one whatever its columns are', () => {
  const untoldOf = (expression: string): readonly string[] => toAlertSql(`SELECT ${expression} AS v`, undefined, undefined).untold
  const numbers = [
    'count()',
    'COUNT(DISTINCT TraceId)',
    'sum(Duration)',
    'sumIf(Duration, ok) / 1e6',
    'uniqCombined64(TraceId)',
    'toUInt8(max(Duration))',
    'count() > 3',
    "max(Name) = 'a' AND (max(Code) > 3)",
    'quantile(0.95)(Duration) * 2',
    'quantile(0.95)(toFloat64(Duration)) * 2',
    '1e-6 * avg(Duration)',
    '-sum(Duration)',
    'avg(length(Name))',
    'round(quantile(0.99)(Duration) / 1e6, 2)',
    '(count() + 1)',
    '(sum(Duration) - 1) / count()',
    '(SELECT count() AS c FROM otel_traces WHERE a = 1)',
  ]
  for (const one of numbers) expect([one, untoldOf(one)]).toEqual([one, []])
  const others = [
    'max(Timestamp)',
    'avg(Timestamp)',
    'avg(Timestamp) + 2 * 60',
    'max(Duration) / 1e6',
    'round(max(Duration))',
    'toDate(max(Timestamp))',
    'toString(count())',
    'count()::String',
    "concat(toString(count()), '')",
    'any(TraceId)',
    'groupArray(1)',
    '[count() > 1]',
    'formatReadableSize(count())',
    "if(count() > 5, 'bad', 'ok')",
    'max(Timestamp) - 60 * 5',
    '(max(Timestamp))',
    '(max(Timestamp)) - 60',
    '(SELECT any(TraceId) FROM otel_traces)',
    '(SELECT * FROM v)',
    '-(SELECT * FROM v)',
    '(SELECT + FROM v)',
    "(SELECT count() FROM otel_traces UNION ALL SELECT 'x')",
    'CASE WHEN count() > 5 THEN max(Timestamp) ELSE min(Timestamp) END',
    "count() > 5 ? 'bad' : 'ok'",
    'count() > NULL',
    'count() > 3 AND max(isOk)',
    '(1, 2) * 3',
    '(count() = 1) * (1, 2)',
    '2 * (count(), 1)',
    'countState()',
    'sumMap(k, v)',
    'sumCount(Duration)',
    'countResample(0, 10, 1)(n, n)',
    'quantiles(0.5, 0.9)(Duration) / 2',
    'toIntervalHour(count())',
    'toDecimalString(count(), 2)',
  ]
  const deep = `${'('.repeat(10_000)}count()${')'.repeat(10_000)}`
  for (const one of [...others, deep]) expect([one, untoldOf(one)]).toEqual([one, ['v is a number']])
})

describe('the types of a rule with groups', () => {
  const last = { reducer: 'last', mode: 'strict' } as const
  const untoldOf = (label: string, time?: string) => {
    const columns = [...(time === undefined ? [] : [`${time} AS t`]), `${label} AS l`, 'count() AS v']
    return toAlertSql(`SELECT ${columns.join(', ')} FROM x GROUP BY l, t ORDER BY t`, time === undefined ? undefined : last, undefined)
      .untold
  }

  it('are told only where labels are texts, and the time is a time, whatever the columns are', () => {
    for (const label of ['toString(status)', "'all'", "concat(a, '-', b)", 'lower(ServiceName)', 'concat(toString(a), b)'])
      expect([label, untoldOf(label)]).toEqual([label, []])
    for (const label of [
      'status',
      'ServiceName',
      'text',
      'length(Body)',
      'toString(a) = b',
      "Attributes['a']",
      "'5xx' = StatusClass",
      "'x' IN (a)",
      "'x' < Level",
      "'2020-01-01'::Date",
      "if(a, 'x', b)",
      'concat(tags, tags)',
      "concat([a, 'x', b], tags)",
    ])
      expect([label, untoldOf(label)]).toEqual([label, ['l is a text']])
    for (const time of [
      'toStartOfMinute(ts)',
      'toStartOfInterval(ts, INTERVAL 1 HOUR)',
      'fromUnixTimestamp(intDiv(ts, 1000))',
      'toDate(a)',
    ])
      expect([time, untoldOf('toString(a)', time)]).toEqual([time, []])
    for (const time of [
      'ts',
      'time',
      'toStartOfMinute(ts) + 1',
      'toDate(ts)::String',
      "fromUnixTimestamp(ts, '%H')",
      "fromUnixTimestampInJodaSyntax(ts, 'HH')",
    ])
      expect([time, untoldOf('toString(a)', time)]).toEqual([time, ['t is a time']])
  })

  it('are named in the difference, each with its column', async () => {
    const [base] = rules.filter(({ value }) => (value as { readonly title: string }).title === 'exact: mean of a series')
    if (base === undefined) throw new Error('no rule')
    const differencesOf = async (columns: string) => {
      const sql = `SELECT ${columns} FROM otel_logs GROUP BY time, service ORDER BY time`
      return (await translateRule({ ...base, value: JSON.parse(JSON.stringify(base.value).replace(/SELECT .*?ORDER BY t/, sql)) }, choices))
        .differences
    }
    expect(await differencesOf('Timestamp AS time, count()')).toEqual([
      'fails in Grafana, or has other values, unless time is a time; check: true tells',
    ])
    expect(await differencesOf('Timestamp AS time, ServiceName AS service, max(Duration)')).toContain(
      'fails in Grafana, or has other values, unless time is a time and service is a text and max(Duration) is a number; check: true tells',
    )
  })
})

it('a count is certain only where its function always returns a whole number', () => {
  const missingOf = (expression: string) => toAlertSql(`SELECT ${expression} FROM x`, undefined, undefined)
  for (const one of ['count()', 'uniqExactIf(a, b)', 'countMerge(c)'])
    expect([one, missingOf(one)]).toMatchObject([one, { missing: 'never', isWhole: true }])
  const subqueries = ['', ' GROUP BY s LIMIT 1', ' HAVING count() > 1', ' LIMIT 0', ' OFFSET 1'].map(
    (end) => `(SELECT count() FROM t${end})`,
  )
  for (const one of ['countOrNull()', 'uniqIfOrNull(a, b)', 'countState()', 'countResample(0, 10, 1)(n, n)'])
    expect([one, missingOf(one)]).toMatchObject([one, { missing: 'number', isWhole: false }])
  for (const one of subqueries)
    expect([one, toAlertSql(`SELECT ${one} AS v`, undefined, undefined)]).toMatchObject([one, { missing: 'number', isWhole: false }])
})
