export const id = 698;
export const ids = [698];
export const modules = {

/***/ 1698:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  usageCost: () => (/* binding */ usageCost)
});

// EXTERNAL MODULE: ./node_modules/zod/v4/classic/schemas.js + 11 modules
var schemas = __webpack_require__(2857);
// EXTERNAL MODULE: ./lib/kernel/days.js + 7 modules
var kernel_days = __webpack_require__(1496);
// EXTERNAL MODULE: ./lib/kernel/decimal.js + 1 modules
var decimal = __webpack_require__(4832);
// EXTERNAL MODULE: ./lib/kernel/errors.js
var errors = __webpack_require__(3314);
;// CONCATENATED MODULE: ./lib/rules/budget.js
// Owns the comparison of a figure with a budget. Exact: equal is within the budget, and zero is a budget.

function judgeBudget(spent, { budget, warnBudget }) {
    const usedPercent = budget === undefined ? undefined : (0,decimal/* percentOf */.pR)(spent, budget);
    if (budget !== undefined && spent.gt(budget))
        return { level: 'exceeded', usedPercent };
    return { level: warnBudget !== undefined && spent.gt(warnBudget) ? 'warn' : 'within', usedPercent };
}

;// CONCATENATED MODULE: ./lib/rules/period.js
// Owns which UTC days a period means, and cutting it into windows that the API answers. Pure: today is an argument.

/** Longest period that the API answers in one request, in days. */
const longestWindowDays = 31;
const periodPresets = [
    'today',
    'yesterday',
    'month-to-date',
    'previous-month',
    'billing-cycle',
    'previous-billing-cycle',
    'year-to-date',
];
/** Ten years: further back is a typing error rather than a wish. */
const mostDays = 3660;
function isPeriodName(name) {
    if (periodPresets.some((preset) => preset === name))
        return true;
    const days = lastDays(name);
    return days !== undefined && days >= 1 && days <= mostDays;
}
const lastDays = (name) => {
    const match = /^last-([1-9]\d{0,4})-days$/.exec(name);
    return match === null ? undefined : Number(match[1]);
};
/** Periods that still run end today; `last-N-days` are the N days that end today. */
function resolvePeriod(name, today, billingCycleDay = 1) {
    const days = lastDays(name);
    if (days !== undefined)
        return { from: (0,kernel_days/* addDays */.fi)(today, 1 - days), to: today };
    switch (name) {
        case 'today':
            return { from: today, to: today };
        case 'yesterday':
            return { from: (0,kernel_days/* addDays */.fi)(today, -1), to: (0,kernel_days/* addDays */.fi)(today, -1) };
        case 'month-to-date':
            return { from: (0,kernel_days/* withDayOfMonth */.sY)(today, 1), to: today };
        case 'previous-month':
            return previousCycle(today, 1);
        case 'billing-cycle':
            return { from: startOfCycle(today, billingCycleDay), to: today };
        case 'previous-billing-cycle':
            return previousCycle(today, billingCycleDay);
        case 'year-to-date':
            return { from: (0,kernel_days/* startOfYear */.D)(today), to: today };
    }
}
// In a month without that day the cycle starts on the month's last day; the next one starts on the real day again.
function startOfCycle(today, cycleDay) {
    const thisMonth = (0,kernel_days/* withDayOfMonth */.sY)(today, cycleDay);
    return thisMonth <= today ? thisMonth : (0,kernel_days/* withDayOfMonth */.sY)((0,kernel_days/* addMonths */.PS)((0,kernel_days/* withDayOfMonth */.sY)(today, 1), -1), cycleDay);
}
function previousCycle(today, cycleDay) {
    const to = (0,kernel_days/* addDays */.fi)(startOfCycle(today, cycleDay), -1);
    return { from: startOfCycle(to, cycleDay), to };
}
/** The fewest windows of at most 31 days that cover the period exactly once, in order. */
function cutIntoWindows({ from, to }) {
    const windows = [];
    for (let start = from; start <= to; start = (0,kernel_days/* addDays */.fi)(start, longestWindowDays)) {
        const end = (0,kernel_days/* addDays */.fi)(start, longestWindowDays - 1);
        windows.push({ from: start, to: end < to ? end : to });
    }
    return windows;
}
const daysIn = ({ from, to }) => (0,kernel_days/* countDays */.Tm)(from, to);

;// CONCATENATED MODULE: ./lib/rules/spend.js
// Owns what usage records add up to, and every reason to doubt the figure. Pure: answers in, a value out.


function toSpend({ period, today, grandTotal, records }) {
    const totals = totalsBy(records, ({ date }) => date);
    return {
        period,
        total: grandTotal,
        provisional: (0,decimal/* sum */.cz)(records.filter(({ locked }) => !locked).map(({ total }) => total)),
        byDay: [...(0,kernel_days/* eachDay */.aj)(period.from, period.to)].map((day) => ({ day, total: totals.get(day) ?? decimal/* zero */.v_ })),
        byEntity: entities(records),
        byMetric: metrics(records),
        doubts: doubtsAbout({ period, today, grandTotal, records }),
    };
}
function totalsBy(records, keyOf) {
    const totals = new Map();
    for (const record of records)
        totals.set(keyOf(record), (totals.get(keyOf(record)) ?? decimal/* zero */.v_).plus(record.total));
    return totals;
}
const largestFirst = (a, b) => b.total.cmp(a.total) || (a.name < b.name ? -1 : 1);
function entities(records) {
    const identity = ({ entityType, entityId }) => `${entityType} ${entityId}`;
    const totals = totalsBy(records, identity);
    // The name of the newest record: entities can be renamed, their id stays.
    const newest = new Map(records.toSorted((a, b) => (a.date < b.date ? -1 : 1)).map((record) => [identity(record), record]));
    return [...newest]
        .map(([key, { entityName, entityId, entityType }]) => ({
        name: entityName || entityId || 'unnamed',
        entityType,
        total: totals.get(key) ?? decimal/* zero */.v_,
    }))
        .sort(largestFirst);
}
function metrics(records) {
    const totals = new Map();
    const add = (name, value) => {
        totals.set(name, (totals.get(name) ?? decimal/* zero */.v_).plus(value));
    };
    for (const record of records) {
        for (const [name, value] of Object.entries(record.metrics))
            add(name, value);
        add('other', record.total.minus((0,decimal/* sum */.cz)(Object.values(record.metrics))));
    }
    return [...totals]
        .map(([name, total]) => ({ name, total }))
        .filter(({ total }) => !total.eq(0))
        .sort(largestFirst);
}
function doubtsAbout({ period, today, grandTotal, records }) {
    if (records.length === 0)
        return [{ kind: 'empty' }, ...sumDoubt(decimal/* zero */.v_, grandTotal)];
    const outside = records.filter(({ date }) => date < period.from || date > period.to).map(({ date }) => date);
    const missing = missingDays(period, today, new Set(records.map(({ date }) => date)));
    return [
        ...(grandTotal.lt(0) ? [{ kind: 'negative', grandTotal }] : []),
        ...sumDoubt((0,decimal/* sum */.cz)(records.map(({ total }) => total)), grandTotal),
        ...(outside.length > 0 ? [{ kind: 'outside-period', days: [...new Set(outside)].sort() }] : []),
        ...repeats(records),
        ...(missing.length > 0 ? [{ kind: 'missing-days', days: missing }] : []),
    ];
}
// The API rounds rows and total on its own: 0.01 % of the total, and never less than a millionth, is no difference.
function sumDoubt(records, grandTotal) {
    const relative = grandTotal.abs().times('0.0001');
    const tolerance = relative.lt('0.000001') ? '0.000001' : relative;
    return records.minus(grandTotal).abs().lte(tolerance) ? [] : [{ kind: 'sum-differs', records, grandTotal }];
}
function repeats(records) {
    const seen = new Set();
    for (const { date, entityType, entityId, entityName } of records) {
        const key = JSON.stringify([date, entityType, entityId]);
        if (seen.has(key))
            return [{ kind: 'repeated', date, entityName }];
        seen.add(key);
    }
    return [];
}
// A day that is over for a day has its records by then. Days before the first record are an organization's time before its
// first use, as far as anybody can tell from here.
function missingDays({ to }, today, present) {
    const first = [...present].sort()[0];
    const settled = (0,kernel_days/* addDays */.fi)(today, -2);
    const last = to < settled ? to : settled;
    return first === undefined ? [] : [...(0,kernel_days/* eachDay */.aj)(first, last)].filter((day) => !present.has(day));
}

// EXTERNAL MODULE: ./lib/operations/fields.js
var fields = __webpack_require__(4077);
// EXTERNAL MODULE: ./lib/operations/operation.js
var operation = __webpack_require__(9583);
// EXTERNAL MODULE: ./node_modules/zod/v4/core/core.js
var core = __webpack_require__(8532);
// EXTERNAL MODULE: ./lib/kernel/names.js
var kernel_names = __webpack_require__(2773);
;// CONCATENATED MODULE: ./lib/operations/period-input.js
// Owns how users say which days they mean.





const periodInput = {
    fromDate: (0,fields/* day */.vd)('First day, in UTC; together with to-date.').optional(),
    toDate: (0,fields/* day */.vd)('Last day, in UTC, itself included; together with from-date.').optional(),
    period: schemas/* string */.YjP()
        .transform((name, context) => {
        if (isPeriodName(name))
            return name;
        context.addIssue({ code: 'custom', message: 'is no period' });
        return core/* NEVER */.tm;
    })
        .optional()
        .meta({
        description: 'A period instead of two dates. Those that still run end today; `last-N-days` are the N days that end today.',
        accepts: [...periodPresets, 'last-N-days'].join(', '),
    }),
    billingCycleDay: (0,fields/* integer */.nd)('Day of the month on which a billing cycle starts; the last day of a month that is too short.', 1, 31).optional(),
};
const schema = schemas/* strictObject */.rej(periodInput);
function checkPeriod({ values, names }) {
    const { fromDate, toDate, period } = values;
    const dates = ['fromDate', 'toDate'].filter((name) => names.has(name));
    if (names.has('period'))
        return [
            ...dates.map((name) => ({ name: (0,kernel_names/* toKebab */.VC)(name), message: 'cannot be given together with period' })),
            ...checkCycleDay(names, period),
        ];
    const problems = checkCycleDay(names, period);
    if (dates.length === 0)
        return [...problems, { name: 'period', message: 'is missing: give period, or from-date and to-date' }];
    if (dates.length === 1)
        return [...problems, { name: names.has('fromDate') ? 'to-date' : 'from-date', message: 'is missing: a period has two ends' }];
    if (fromDate === undefined || toDate === undefined)
        return problems;
    if (fromDate > toDate)
        return [...problems, { name: 'to-date', message: `is ${toDate}, before from-date ${fromDate}` }];
    const days = daysIn({ from: fromDate, to: toDate });
    return days > mostDays
        ? [...problems, { name: 'to-date', message: `makes a period of ${days} days; accepted: at most ${mostDays}` }]
        : problems;
}
function checkCycleDay(names, period) {
    if (!names.has('billingCycleDay') || period?.endsWith('billing-cycle'))
        return [];
    return [{ name: 'billing-cycle-day', message: 'means nothing without the period billing-cycle or previous-billing-cycle' }];
}
/** Nothing is used on a day that is still to come: such days are taken off, and the caller says so. */
function choosePeriod(input, today) {
    const { period: name, fromDate, toDate, billingCycleDay } = input;
    if (name !== undefined)
        return { period: resolvePeriod(name, today, billingCycleDay), clipped: false };
    if (fromDate === undefined || toDate === undefined)
        throw new TypeError('checkPeriod lets no half period through');
    if (fromDate > today)
        throw new errors/* InputError */.dz([{ name: 'from-date', message: `is ${fromDate}, which is still to come: today is ${today} in UTC` }]);
    return toDate > today
        ? { period: { from: fromDate, to: today }, clipped: true }
        : { period: { from: fromDate, to: toDate }, clipped: false };
}

// EXTERNAL MODULE: ./lib/report/line.js
var line = __webpack_require__(7174);
;// CONCATENATED MODULE: ./lib/operations/usage-report.js
// Owns how the usage cost is shown.


function reportUsage(result) {
    const { grandTotalCredits, unit, fromDate, toDate, budget, budgetExceeded, budgetUsedPercent } = result;
    const total = (0,decimal/* fromText */.IK)(grandTotalCredits);
    const share = budgetUsedPercent === undefined ? '' : ` (${budgetUsedPercent} %)`;
    // Doubts come after the figure; until they are settled it is within nothing.
    const isVouchedFor = budget !== undefined && !budgetExceeded && result.doubts.length === 0;
    const within = !isVouchedFor ? '' : `, within the budget of ${(0,decimal/* formatExact */.Bo)((0,decimal/* fromText */.IK)(budget))}${share}`;
    return {
        headline: [(0,line/* ours */.Od)(`${(0,decimal/* formatExact */.Bo)(total)} ${unit} used from ${fromDate} to ${toDate}${within}`)],
        blocks: [
            factsOf(result),
            ...(result.clipped ? [{ kind: 'paragraph', line: (0,line/* say */.cv) `Days that are still to come were taken off the period.` }] : []),
            ...chartOf(result),
            shareTable('By entity', result.byEntity.map(({ name, entityType, total: amount }) => ({ cells: [[(0,line/* data */.p)(name)], [(0,line/* data */.p)(entityType)]], amount })), ['Entity', 'Type'], total),
            shareTable('By metric', result.byMetric.map(({ name, total: amount }) => ({ cells: [[(0,line/* data */.p)(name)]], amount })), ['Metric'], total),
            { kind: 'details', title: `${result.records.length} records`, blocks: [recordTable(result, total)] },
        ],
    };
}
function factsOf({ unit, budget, budgetUsedPercent, provisionalCredits, grandTotalCredits, days, warnBudget }) {
    const amount = (value) => [(0,line/* ours */.Od)(`${(0,decimal/* formatExact */.Bo)((0,decimal/* fromText */.IK)(value))} ${unit}`)];
    const provisionalShare = (0,decimal/* percentOf */.pR)((0,decimal/* fromText */.IK)(provisionalCredits), (0,decimal/* fromText */.IK)(grandTotalCredits));
    return {
        kind: 'facts',
        facts: [
            { label: 'Total', value: amount(grandTotalCredits) },
            ...(budget === undefined ? [] : [{ label: 'Budget', value: amount(budget) }]),
            ...(warnBudget === undefined ? [] : [{ label: 'Warn above', value: amount(warnBudget) }]),
            ...(budgetUsedPercent === undefined ? [] : [{ label: 'Used', value: [(0,line/* ours */.Od)(`${budgetUsedPercent} %`)] }]),
            {
                label: 'Can still change',
                value: [...amount(provisionalCredits), (0,line/* ours */.Od)(provisionalShare === undefined ? '' : ` (${(0,decimal/* formatRounded */.vE)(provisionalShare, 1)} %)`)],
            },
            { label: 'Days', value: (0,line/* say */.cv) `${days}` },
        ],
    };
}
function chartOf({ byDay, unit }) {
    if (byDay.length < 2 || byDay.every(({ total }) => Number(total) === 0))
        return [];
    const points = byDay.map(({ date, total }) => ({ label: date.slice(5), value: Number(total) }));
    return [{ kind: 'chart', title: `${unit} per day`, unit, points }];
}
function shareTable(title, rows, columns, total) {
    return {
        kind: 'table',
        title,
        columns: [...columns.map((column) => ({ title: column })), { title: 'Amount', align: 'right' }, { title: 'Share', align: 'right' }],
        rows: rows.map(({ cells, amount }) => [...cells, [(0,line/* ours */.Od)(rounded(amount, total))], [(0,line/* ours */.Od)(shareOf(amount, total))]]),
    };
}
// Small totals would round to nothing.
const rounded = (amount, total) => (0,decimal/* formatRounded */.vE)((0,decimal/* fromText */.IK)(amount), total.abs().lt(10) ? 4 : 2);
function shareOf(amount, total) {
    const percent = (0,decimal/* percentOf */.pR)((0,decimal/* fromText */.IK)(amount), total);
    return percent === undefined ? '–' : `${(0,decimal/* formatRounded */.vE)(percent, 1)} %`;
}
function recordTable({ records }, total) {
    return {
        kind: 'table',
        columns: [{ title: 'Day' }, { title: 'Entity' }, { title: 'Amount', align: 'right' }, { title: 'Final' }],
        rows: records.map(({ date, entityName, total: amount, locked }) => [
            [(0,line/* ours */.Od)(date)],
            [(0,line/* data */.p)(entityName)],
            [(0,line/* ours */.Od)(rounded(amount, total))],
            [(0,line/* ours */.Od)(locked ? 'yes' : 'not yet')],
        ]),
    };
}

;// CONCATENATED MODULE: ./lib/operations/usage-result.js
// Owns the result of usage-cost: exact decimals as text, so that nobody who reads the JSON loses a digit.

const usage_result_decimal = (description) => schemas/* string */.YjP().describe(`${description} Exact decimal.`);
const usageOutput = schemas/* object */.Ikc({
    grandTotalCredits: usage_result_decimal("What was used in the period, by the API's own total."),
    unit: schemas/* string */.YjP().describe('Unit of all amounts, as the API names it: Credits, CHC.'),
    fromDate: schemas/* string */.YjP().describe('First day, in UTC.'),
    toDate: schemas/* string */.YjP().describe('Last day, in UTC, itself included.'),
    days: schemas/* int */.Whr().describe('Number of days.'),
    budget: usage_result_decimal('The budget, where one was given.').optional(),
    budgetExceeded: schemas/* boolean */.zMY().optional().describe('Whether the total is above the budget; absent without one.'),
    budgetUsedPercent: schemas/* string */.YjP()
        .optional()
        .describe('Share of the budget that is used, in percent with two decimals; absent for a budget of zero.'),
    provisionalCredits: usage_result_decimal('The part of the total whose records can still change.'),
});
const share = schemas/* object */.Ikc({ name: schemas/* string */.YjP(), total: schemas/* string */.YjP() });
const usageDetails = schemas/* object */.Ikc({
    warnBudget: usage_result_decimal('The amount above which the gate warns.').optional(),
    warnBudgetExceeded: schemas/* boolean */.zMY().describe('Whether the total is above that amount.'),
    clipped: schemas/* boolean */.zMY().describe('Whether days that are still to come were taken off the period.'),
    onMissing: schemas/* enum */.k5n(['fail', 'warn', 'ignore']).describe('What doubts lead to.'),
    doubts: schemas/* array */.YOg(schemas/* object */.Ikc({
        kind: schemas/* enum */.k5n(['empty', 'sum-differs', 'outside-period', 'repeated', 'negative', 'missing-days']),
        days: schemas/* array */.YOg(schemas/* string */.YjP()).optional(),
        recordsTotal: schemas/* string */.YjP().optional(),
        entityName: schemas/* string */.YjP().optional(),
    }))
        .describe('Reasons to doubt the total.'),
    byDay: schemas/* array */.YOg(schemas/* object */.Ikc({ date: schemas/* string */.YjP(), total: schemas/* string */.YjP() })).describe('Every day of the period, in order.'),
    byEntity: schemas/* array */.YOg(share.extend({ entityType: schemas/* string */.YjP() })).describe('Largest first.'),
    byMetric: schemas/* array */.YOg(share).describe('Largest first.'),
    records: schemas/* array */.YOg(schemas/* object */.Ikc({
        date: schemas/* string */.YjP(),
        entityType: schemas/* string */.YjP(),
        entityId: schemas/* string */.YjP(),
        entityName: schemas/* string */.YjP(),
        warehouseId: schemas/* string */.YjP().optional(),
        serviceId: schemas/* string */.YjP().optional(),
        total: schemas/* string */.YjP(),
        metrics: schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* string */.YjP()),
        locked: schemas/* boolean */.zMY(),
    }))
        .describe('The records, as the API answered, without the unit word in the names.'),
});
function toUsageResult({ unit, spend, records, limits, judgement, days, clipped, onMissing }) {
    const { budget, warnBudget } = limits;
    return {
        grandTotalCredits: exact(spend.total),
        unit,
        fromDate: spend.period.from,
        toDate: spend.period.to,
        days,
        ...(budget && { budget: exact(budget), budgetExceeded: judgement.level === 'exceeded' }),
        ...(judgement.usedPercent && { budgetUsedPercent: judgement.usedPercent.toFixed(2) }),
        provisionalCredits: exact(spend.provisional),
        ...(warnBudget && { warnBudget: exact(warnBudget) }),
        warnBudgetExceeded: warnBudget !== undefined && spend.total.gt(warnBudget),
        clipped,
        onMissing,
        doubts: spend.doubts.map(toDoubt),
        byDay: spend.byDay.map(({ day, total }) => ({ date: day, total: exact(total) })),
        byEntity: spend.byEntity.map(({ name, entityType, total }) => ({ name, entityType, total: exact(total) })),
        byMetric: spend.byMetric.map(({ name, total }) => ({ name, total: exact(total) })),
        records: records.map(toRecord),
    };
}
const exact = (value) => value.toFixed();
function toDoubt(doubt) {
    switch (doubt.kind) {
        case 'sum-differs':
            return { kind: doubt.kind, recordsTotal: exact(doubt.records) };
        case 'repeated':
            return { kind: doubt.kind, days: [doubt.date], entityName: doubt.entityName };
        case 'outside-period':
        case 'missing-days':
            return { kind: doubt.kind, days: [...doubt.days] };
        default:
            return { kind: doubt.kind };
    }
}
function toRecord({ warehouseId, serviceId, total, metrics, ...rest }) {
    return {
        ...rest,
        ...(warehouseId !== undefined && { warehouseId }),
        ...(serviceId !== undefined && { serviceId }),
        total: exact(total),
        metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, exact(value)])),
    };
}

;// CONCATENATED MODULE: ./lib/operations/usage-verdict.js
// Owns what the figures of usage-cost mean for the gate.


function judgeUsage(result) {
    const { budgetExceeded, warnBudgetExceeded, onMissing } = result;
    const doubts = onMissing === 'ignore' ? [] : result.doubts.map((doubt) => describeDoubt(doubt, result));
    const isFailed = budgetExceeded === true || (onMissing === 'fail' && doubts.length > 0);
    const reasons = [...(budgetExceeded ? [above(result, 'budget')] : warnBudgetExceeded ? [above(result, 'warnBudget')] : []), ...doubts];
    if (reasons.length === 0)
        return { status: 'pass', reasons };
    return { status: isFailed ? 'fail' : 'warn', reasons };
}
function above(result, limit) {
    const total = (0,decimal/* fromText */.IK)(result.grandTotalCredits);
    const most = (0,decimal/* fromText */.IK)(result[limit] ?? '0');
    const name = limit === 'budget' ? 'the budget' : 'warn-budget';
    return [(0,line/* ours */.Od)(`above ${name} of ${(0,decimal/* formatExact */.Bo)(most)} by ${(0,decimal/* formatExact */.Bo)(total.minus(most))} ${result.unit}`)];
}
/** Most days that a sentence names. */
const mostNamed = 5;
function describeDoubt({ kind, days = [], recordsTotal, entityName }, { grandTotalCredits, unit }) {
    const some = (0,line/* ours */.Od)(days.slice(0, mostNamed).join(', ') + (days.length > mostNamed ? ` and ${days.length - mostNamed} more` : ''));
    switch (kind) {
        case 'empty':
            return (0,line/* say */.cv) `there is not a single usage record, so nothing is known of this period`;
        case 'sum-differs':
            return (0,line/* say */.cv) `the records add up to ${(0,line/* ours */.Od)(`${(0,decimal/* formatExact */.Bo)((0,decimal/* fromText */.IK)(recordsTotal ?? '0'))} ${unit}, the API's total is ${(0,decimal/* formatExact */.Bo)((0,decimal/* fromText */.IK)(grandTotalCredits))}`)}`;
        case 'outside-period':
            return (0,line/* say */.cv) `there are records of other days: ${some}`;
        case 'repeated':
            return (0,line/* say */.cv) `${entityName ?? ''} is counted more than once on ${some}`;
        case 'negative':
            return (0,line/* say */.cv) `the API's total is negative`;
        case 'missing-days':
            return (0,line/* say */.cv) `no records of ${some}`;
    }
}

;// CONCATENATED MODULE: ./lib/operations/usage-cost.js
// Owns the cost gate: reads the usage of a period, compares it with a budget, and says how far the figure can be trusted.













const tagFilter = schemas/* string */.YjP().regex(/^tag:[^\s=]{1,128}(?:=[^\r\n]{0,256})?$/);
const usageCost = (0,operation/* defineOperation */.h9)({
    summary: "Reports the organization's usage cost over a period, and fails when it is above a budget.",
    effect: 'read',
    scope: 'organization',
    input: schemas/* strictObject */.rej({
        ...periodInput,
        budget: (0,fields/* amount */.vj)('Most that may be used, in usage credits. The gate fails above it; equal passes.').optional(),
        warnBudget: (0,fields/* amount */.vj)('The gate warns above this amount.').optional(),
        filter: (0,fields/* lines */.Mn)('Only usage that bears these tags; passed on to the API. One filter a line.', 'tag:Key=Value or tag:Key, one a line', tagFilter).optional(),
        onMissing: (0,fields/* choice */.Yq)(['fail', 'warn', 'ignore'], 'What to do when the figures are doubtful: no records at all, days without records, records that do not add up to the total.').default('fail'),
    }),
    output: usageOutput,
    details: usageDetails,
    example: { period: 'last-7-days', budget: '200' },
    check: checkPeriod,
    async run({ api, organizationId, clock }, input) {
        const today = (0,kernel_days/* dayOf */.kb)(clock.now());
        const { period, clipped } = choosePeriod(input, today);
        const { unit, grandTotal, records } = await readPeriod(api, organizationId, period, input.filter ?? []);
        const spend = toSpend({ period, today, grandTotal, records });
        const limits = { budget: input.budget, warnBudget: input.warnBudget };
        return toUsageResult({
            unit,
            spend,
            records,
            limits,
            judgement: judgeBudget(grandTotal, limits),
            days: daysIn(period),
            clipped,
            onMissing: input.onMissing,
        });
    },
    judge: judgeUsage,
    report: reportUsage,
});
/** All of the period or an error: a total of some windows would be a wrong total. */
async function readPeriod(api, organizationId, period, filters) {
    const answers = await Promise.all(cutIntoWindows(period).map((window) => api.usage.read(organizationId, window, filters)));
    const [unit, second] = new Set(answers.map((answer) => answer.unit));
    if (unit === undefined || second !== undefined) {
        throw new errors/* WatchkeeperError */.GQ('bad-answer', `The API counts in ${unit} for one part of the period and in ${second} for another.`);
    }
    return { unit, grandTotal: (0,decimal/* sum */.cz)(answers.map(({ grandTotal }) => grandTotal)), records: answers.flatMap(({ records }) => records) };
}


/***/ })

};
