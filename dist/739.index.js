export const id = 739;
export const ids = [739];
export const modules = {

/***/ 2664:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  af: () => (/* binding */ alertBodySchema),
  BE: () => (/* binding */ alertIntervals),
  DZ: () => (/* binding */ alertSources),
  NN: () => (/* binding */ alertStates),
  $B: () => (/* binding */ channelTypes),
  sk: () => (/* binding */ missingInAlert),
  X3: () => (/* binding */ thresholdTypes)
});

// EXTERNAL MODULE: ./node_modules/zod/v4/classic/schemas.js + 11 modules
var schemas = __webpack_require__(2857);
// EXTERNAL MODULE: ./node_modules/zod/v4/core/api.js
var api = __webpack_require__(3759);
;// CONCATENATED MODULE: ./node_modules/zod/v4/classic/iso.js



function datetime(params) {
    return api/* _isoDateTime */.G1(schemas/* ZodISODateTime */.You, params);
}
function date(params) {
    return core._isoDate(ZodISODate, params);
}
function time(params) {
    return core._isoTime(ZodISOTime, params);
}
function duration(params) {
    return core._isoDuration(ZodISODuration, params);
}

;// CONCATENATED MODULE: ./lib/api/alert-body.js
// Owns what may be sent of an alert: fields, enums and limits as the API documents and its server enforces them.

const alertSources = ['tile', 'saved_search'];
const alertStates = ['ALERT', 'OK', 'INSUFFICIENT_DATA', 'DISABLED', 'PENDING'];
/** `30s` needs a feature of the team; the server says so if it lacks it. */
const alertIntervals = ['30s', '1m', '5m', '15m', '30m', '1h', '6h', '12h', '1d'];
const thresholdTypes = [
    'above',
    'below',
    'above_exclusive',
    'below_or_equal',
    'equal',
    'not_equal',
    'between',
    'not_between',
];
const channelTypes = ['webhook', 'email'];
const channel = schemas/* discriminatedUnion */.gMt('type', [
    schemas/* strictObject */.rej({
        type: schemas/* literal */.euz('webhook'),
        webhookId: schemas/* string */.YjP().min(1),
        webhookService: schemas/* string */.YjP().nullish(),
        slackChannelId: schemas/* string */.YjP().nullish(),
        severity: schemas/* enum */.k5n(['critical', 'error', 'warning', 'info']).nullish(),
    }),
    schemas/* strictObject */.rej({ type: schemas/* literal */.euz('email'), emailRecipients: schemas/* array */.YOg(schemas/* string */.YjP().min(3)).min(1) }),
]);
const alert_body_text = (longest) => schemas/* string */.YjP().min(1).max(longest).nullish();
const id = schemas/* string */.YjP().min(1).max(64);
/** An alert as people write it, in the API's own names. Every field may be left out: what is needed depends on the rest. */
const alertBodySchema = schemas/* strictObject */.rej({
    source: schemas/* enum */.k5n(alertSources).optional(),
    dashboardId: id.nullish(),
    tileId: id.nullish(),
    savedSearchId: id.nullish(),
    groupBy: schemas/* string */.YjP().nullish(),
    threshold: schemas/* number */.aig().optional(),
    thresholdMax: schemas/* number */.aig().nullish(),
    thresholdType: schemas/* enum */.k5n(thresholdTypes).optional(),
    interval: schemas/* enum */.k5n(alertIntervals).optional(),
    scheduleOffsetMinutes: schemas/* int */.Whr().min(0).max(1439).nullish(),
    scheduleStartAt: datetime({ offset: true }).nullish(),
    channel: channel.optional(),
    channels: schemas/* array */.YOg(channel).min(1).max(10).optional(),
    name: alert_body_text(512),
    message: alert_body_text(4096),
    note: alert_body_text(4096),
    numConsecutiveWindows: schemas/* int */.Whr().min(1).nullish(),
});
/** What the server would refuse although each field by itself is right. */
function missingInAlert(alert) {
    const { source = 'tile', thresholdType } = alert;
    const needed = ['threshold', 'thresholdType', 'interval'];
    if (source === 'tile')
        needed.push('dashboardId', 'tileId');
    else
        needed.push('savedSearchId');
    if (thresholdType === 'between' || thresholdType === 'not_between')
        needed.push('thresholdMax');
    const missing = needed.filter((field) => alert[field] === undefined || alert[field] === null);
    return alert.channel === undefined && alert.channels === undefined ? [...missing, 'channel'] : missing;
}


/***/ }),

/***/ 2427:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   FM: () => (/* binding */ alertDetails),
/* harmony export */   Vb: () => (/* binding */ nameOf),
/* harmony export */   Yz: () => (/* binding */ outputsOf),
/* harmony export */   ZW: () => (/* binding */ alertOutput),
/* harmony export */   qi: () => (/* binding */ alertFacts),
/* harmony export */   vg: () => (/* binding */ alertTable)
/* harmony export */ });
/* unused harmony export conditionOf */
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2857);
/* harmony import */ var _api_alerts_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(8153);
/* harmony import */ var _report_line_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7174);
// Owns how alerts are shown.



const alertOutput = zod__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    alertId: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().describe('Id of the alert.'),
    alertState: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().optional().describe('State of the alert: ALERT, OK, INSUFFICIENT_DATA, DISABLED or PENDING.'),
    changed: zod__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY().describe('Whether this run changed anything.'),
});
const alertDetails = zod__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ alert: _api_alerts_js__WEBPACK_IMPORTED_MODULE_1__/* .alertSchema */ .c.describe('The alert, as the API answered.') });
const outputsOf = (alert, changed) => ({
    alertId: alert.id,
    ...(alert.state && { alertState: alert.state }),
    changed,
    alert,
});
const orDash = (text) => (text ? (0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .data */ .p)(text) : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .ours */ .Od)('–'));
const nameOf = ({ name, id }) => (0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .data */ .p)(name || id);
/** `above 5 over 5m` */
const conditionOf = ({ threshold, thresholdType, interval }) => (0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `${orDash(thresholdType)} ${(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .ours */ .Od)(threshold === null || threshold === undefined ? '–' : String(threshold))} over ${orDash(interval)}`;
const alertFacts = (alert) => ({
    kind: 'facts',
    facts: [
        { label: 'Name', value: [orDash(alert.name)] },
        { label: 'State', value: [orDash(alert.state)] },
        { label: 'Condition', value: conditionOf(alert) },
        { label: 'Dashboard', value: [orDash(alert.dashboardId)] },
        { label: 'Tile', value: [orDash(alert.tileId)] },
        { label: 'Id', value: [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .data */ .p)(alert.id)] },
    ],
});
const alertTable = (alerts) => ({
    kind: 'table',
    columns: [{ title: 'Name' }, { title: 'State' }, { title: 'Condition' }, { title: 'Id' }],
    rows: alerts.map((alert) => [[orDash(alert.name)], [orDash(alert.state)], conditionOf(alert), [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .data */ .p)(alert.id)]]),
});


/***/ }),

/***/ 9739:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   alertId: () => (/* binding */ alertId),
/* harmony export */   deleteAlert: () => (/* binding */ deleteAlert),
/* harmony export */   getAlert: () => (/* binding */ getAlert),
/* harmony export */   listAlerts: () => (/* binding */ listAlerts)
/* harmony export */ });
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(2857);
/* harmony import */ var _api_alert_body_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(2664);
/* harmony import */ var _api_alerts_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(8153);
/* harmony import */ var _report_line_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(7174);
/* harmony import */ var _alert_report_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(2427);
/* harmony import */ var _fields_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4077);
/* harmony import */ var _listing_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(9222);
/* harmony import */ var _operation_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9583);
// Owns the operations that read alerts or remove one. Making and changing them: create-alert.ts, update-alert.ts.








const alertId = (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .resourceId */ .a)('The alert.');
const listAlerts = (0,_operation_js__WEBPACK_IMPORTED_MODULE_1__/* .defineOperation */ .h9)({
    summary: 'Lists the alerts of a service.',
    effect: 'read',
    scope: 'service',
    input: zod__WEBPACK_IMPORTED_MODULE_2__/* .strictObject */ .rej({
        nameContains: _listing_js__WEBPACK_IMPORTED_MODULE_3__/* .nameContains */ .TY.optional(),
        state: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .choice */ .Yq)(_api_alert_body_js__WEBPACK_IMPORTED_MODULE_4__/* .alertStates */ .NN, 'Only alerts in this state.').optional(),
    }),
    output: _listing_js__WEBPACK_IMPORTED_MODULE_3__/* .listOutput */ .OW,
    details: zod__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({ alerts: zod__WEBPACK_IMPORTED_MODULE_2__/* .array */ .YOg(_api_alerts_js__WEBPACK_IMPORTED_MODULE_5__/* .alertSchema */ .c).describe('The alerts, as the API answered.'), mayBeCut: _listing_js__WEBPACK_IMPORTED_MODULE_3__/* .mayBeCut */ .zB }),
    example: { state: 'ALERT' },
    async run({ api, service }, input) {
        const { items, ...result } = (0,_listing_js__WEBPACK_IMPORTED_MODULE_3__/* .toListResult */ .ts)(await api.alerts.list(service), input.nameContains, ({ state }) => !input.state || state === input.state);
        return { ...result, alerts: items };
    },
    judge: _listing_js__WEBPACK_IMPORTED_MODULE_3__/* .judgeCutList */ ._u,
    report: ({ alerts }) => ({ headline: (0,_report_line_js__WEBPACK_IMPORTED_MODULE_6__/* .say */ .cv) `${(0,_listing_js__WEBPACK_IMPORTED_MODULE_3__/* .countOf */ .pq)(alerts, 'alert')}`, blocks: [(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_7__/* .alertTable */ .vg)(alerts)] }),
});
const getAlert = (0,_operation_js__WEBPACK_IMPORTED_MODULE_1__/* .defineOperation */ .h9)({
    summary: 'Reads one alert.',
    effect: 'read',
    scope: 'service',
    input: zod__WEBPACK_IMPORTED_MODULE_2__/* .strictObject */ .rej({ alertId }),
    output: _alert_report_js__WEBPACK_IMPORTED_MODULE_7__/* .alertOutput */ .ZW,
    details: _alert_report_js__WEBPACK_IMPORTED_MODULE_7__/* .alertDetails */ .FM,
    example: { alertId: '65f5e4a35eedc0de0000001f' },
    async run({ api, service }, input) {
        return (0,_alert_report_js__WEBPACK_IMPORTED_MODULE_7__/* .outputsOf */ .Yz)(await api.alerts.get(service, input.alertId), false);
    },
    report: ({ alert }) => ({
        headline: (0,_report_line_js__WEBPACK_IMPORTED_MODULE_6__/* .say */ .cv) `Alert ${(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_7__/* .nameOf */ .Vb)(alert)} is ${(0,_report_line_js__WEBPACK_IMPORTED_MODULE_6__/* .data */ .p)(alert.state || 'in no known state')}`,
        blocks: [(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_7__/* .alertFacts */ .qi)(alert)],
    }),
});
const deleteAlert = (0,_operation_js__WEBPACK_IMPORTED_MODULE_1__/* .defineOperation */ .h9)({
    summary: 'Deletes one alert. It is no failure when there is none.',
    effect: 'write',
    scope: 'service',
    input: zod__WEBPACK_IMPORTED_MODULE_2__/* .strictObject */ .rej({ alertId }),
    output: zod__WEBPACK_IMPORTED_MODULE_2__/* .object */ .Ikc({
        alertId: zod__WEBPACK_IMPORTED_MODULE_2__/* .string */ .YjP().describe('Id of the alert.'),
        changed: zod__WEBPACK_IMPORTED_MODULE_2__/* .boolean */ .zMY().describe('Whether there was such an alert.'),
    }),
    details: _operation_js__WEBPACK_IMPORTED_MODULE_1__/* .noDetails */ .QT,
    example: { alertId: '65f5e4a35eedc0de0000001f' },
    async run({ api, service }, input) {
        return { alertId: input.alertId, changed: await api.alerts.remove(service, input.alertId) };
    },
    report: (result) => ({
        headline: result.changed ? (0,_report_line_js__WEBPACK_IMPORTED_MODULE_6__/* .say */ .cv) `Deleted alert ${(0,_report_line_js__WEBPACK_IMPORTED_MODULE_6__/* .data */ .p)(result.alertId)}` : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_6__/* .say */ .cv) `There was no alert ${(0,_report_line_js__WEBPACK_IMPORTED_MODULE_6__/* .data */ .p)(result.alertId)}`,
        blocks: [],
    }),
});


/***/ }),

/***/ 9222:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   OW: () => (/* binding */ listOutput),
/* harmony export */   TY: () => (/* binding */ nameContains),
/* harmony export */   _u: () => (/* binding */ judgeCutList),
/* harmony export */   pq: () => (/* binding */ countOf),
/* harmony export */   ts: () => (/* binding */ toListResult),
/* harmony export */   zB: () => (/* binding */ mayBeCut)
/* harmony export */ });
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2857);
/* harmony import */ var _api_collection_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(7230);
/* harmony import */ var _report_line_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7174);
/* harmony import */ var _fields_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4077);
/* harmony import */ var _operation_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(9583);
// Owns what every listing operation shares: the filter by name, the outputs, and what is said of a list that may not be whole.





const nameContains = (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .text */ .Qq)('Only things whose name contains this text, whatever the case.', 256);
const listOutput = zod__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({
    count: zod__WEBPACK_IMPORTED_MODULE_1__/* .int */ .Whr().describe('How many were found.'),
    ids: zod__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(zod__WEBPACK_IMPORTED_MODULE_1__/* .string */ .YjP()).describe('Their ids, as a JSON array.'),
});
const mayBeCut = zod__WEBPACK_IMPORTED_MODULE_1__/* .boolean */ .zMY().describe('The list is as long as a page and may not be complete.');
function toListResult(list, namePart, matches) {
    const wanted = namePart?.toLowerCase();
    const found = list.items.filter((item) => matches(item) && (wanted === undefined || (item.name ?? '').toLowerCase().includes(wanted)));
    return { count: found.length, ids: found.map(({ id }) => id), items: found, mayBeCut: list.mayBeCut };
}
/** The server cuts lists at its page limit without a word, so a list of just that length proves nothing about the rest. */
const judgeCutList = ({ mayBeCut }) => mayBeCut ? { status: 'warn', reasons: [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `the list may not be complete: it is as long as the page limit of ${_api_collection_js__WEBPACK_IMPORTED_MODULE_3__/* .pageLimit */ .L}`] } : _operation_js__WEBPACK_IMPORTED_MODULE_4__/* .pass */ .IX;
const countOf = (things, noun) => (0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .ours */ .Od)(`${things.length} ${noun}${things.length === 1 ? '' : 's'}`);


/***/ })

};
