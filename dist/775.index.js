export const id = 775;
export const ids = [775];
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

/***/ 5663:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   F: () => (/* binding */ isSame)
/* harmony export */ });
/* harmony import */ var node_util__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(7975);
// Owns when two JSON values mean the same to the API: a field that is null is a field that is not there.

const isSame = (a, b) => (0,node_util__WEBPACK_IMPORTED_MODULE_0__.isDeepStrictEqual)(withoutNulls(a), withoutNulls(b));
function withoutNulls(value) {
    if (Array.isArray(value))
        return value.map(withoutNulls);
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value))
        return value;
    const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
    return Object.fromEntries(entries.map(([key, item]) => [key, withoutNulls(item)]));
}


/***/ }),

/***/ 6357:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   $: () => (/* binding */ changeAlert)
/* harmony export */ });
/* harmony import */ var _api_alerts_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(8153);
/* harmony import */ var _kernel_same_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(5663);


async function changeAlert(api, service, current, declared) {
    const before = (0,_api_alerts_js__WEBPACK_IMPORTED_MODULE_0__/* .toAlertBody */ .L)(current);
    const after = { ...before, ...declared, ...channelsOf(current, declared) };
    if ((0,_kernel_same_js__WEBPACK_IMPORTED_MODULE_1__/* .isSame */ .F)(before, after))
        return { alert: current, changed: false };
    return { alert: await api.alerts.update(service, current.id, after), changed: true };
}
// The server adds fields to a channel, and newer ones answer it twice and refuse an update in which the two differ.
function channelsOf({ channel: before, channels }, { channel: declared, channels: declaredList }) {
    if (declared === undefined || declaredList !== undefined)
        return {};
    const channel = before?.type === declared.type ? { ...before, ...declared } : declared;
    return { channel, ...(Array.isArray(channels) && { channels: [channel] }) };
}


/***/ }),

/***/ 5653:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   Bq: () => (/* binding */ checkAlertInput),
/* harmony export */   Ty: () => (/* binding */ alertInput),
/* harmony export */   X: () => (/* binding */ checkNewAlert),
/* harmony export */   qi: () => (/* binding */ toNewAlert),
/* harmony export */   rY: () => (/* binding */ readAlertInput)
/* harmony export */ });
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(2857);
/* harmony import */ var _api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2664);
/* harmony import */ var _kernel_errors_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(3314);
/* harmony import */ var _kernel_names_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(2773);
/* harmony import */ var _fields_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4077);
/* harmony import */ var _written_document_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(1287);
// Owns the two ways to say what an alert should be, a document or single fields, and the one body that both become.






/** The fields of an alert that an input of their own can set. */
const singleFields = {
    dashboardId: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .opaqueId */ .tH)('Dashboard that holds the tile.').optional(),
    tileId: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .opaqueId */ .tH)('Tile that the alert watches.').optional(),
    threshold: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .decimalNumber */ .zD)('Value that the alert compares with.').optional(),
    thresholdType: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .choice */ .Yq)(_api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__/* .thresholdTypes */ .X3, 'How the value is compared; `above` for a new alert.').optional(),
    interval: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .choice */ .Yq)(_api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__/* .alertIntervals */ .BE, 'How often the alert looks, and over which time.').optional(),
    source: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .choice */ .Yq)(_api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__/* .alertSources */ .DZ, 'What the alert watches; `tile` for a new alert.').optional(),
    channelType: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .choice */ .Yq)(_api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__/* .channelTypes */ .$B, 'How the alert notifies; `webhook` for a new alert.').optional(),
    webhookId: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .opaqueId */ .tH)('Webhook that is called.').optional(),
    name: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .text */ .Qq)('Name of the alert.', 512).optional(),
    message: (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .longText */ .SW)('Text of the notification.', 4096).optional(),
};
const alertInput = zod__WEBPACK_IMPORTED_MODULE_2__/* .strictObject */ .rej({ alert: (0,_written_document_js__WEBPACK_IMPORTED_MODULE_3__/* .documentText */ .ZH)('alert'), alertFile: (0,_written_document_js__WEBPACK_IMPORTED_MODULE_3__/* .documentFile */ .wW)('alert'), ...singleFields });
/** A document or single fields, never both: nobody could tell which one wins. */
function checkAlertInput({ names }) {
    const singles = Object.keys(singleFields).filter((name) => names.has(name));
    const documents = ['alert', 'alertFile'].filter((name) => names.has(name));
    if (documents.length === 2)
        return [{ name: 'alert', message: 'cannot be given together with alert-file' }];
    const [document] = documents;
    if (document !== undefined)
        return singles.map((name) => ({ name: (0,_kernel_names_js__WEBPACK_IMPORTED_MODULE_4__/* .toKebab */ .VC)(name), message: `cannot be given together with ${(0,_kernel_names_js__WEBPACK_IMPORTED_MODULE_4__/* .toKebab */ .VC)(document)}` }));
    return names.has('channelType') && !names.has('webhookId')
        ? [{ name: 'webhook-id', message: 'is missing: channel-type says how, webhook-id says where' }]
        : [];
}
/** What a new alert needs when it is given in single fields. */
function checkNewAlert(given) {
    const { names, values } = given;
    if (names.has('alert') || names.has('alertFile'))
        return [];
    if (values.source === 'saved_search')
        return [{ name: 'source', message: 'saved_search needs more fields than single inputs have: use alert or alert-file' }];
    if (values.channelType === 'email')
        return [{ name: 'channel-type', message: 'email needs recipients, which single inputs cannot give: use alert or alert-file' }];
    if (values.thresholdType?.endsWith('between')) {
        return [
            { name: 'threshold-type', message: `${values.thresholdType} needs a second threshold: use alert or alert-file with thresholdMax` },
        ];
    }
    const needed = ['dashboardId', 'tileId', 'threshold', 'interval', 'webhookId'].filter((name) => !names.has(name));
    return needed.map((name) => ({ name: (0,_kernel_names_js__WEBPACK_IMPORTED_MODULE_4__/* .toKebab */ .VC)(name), message: 'is missing: a new alert needs it (or alert, or alert-file)' }));
}
/** What the user declared, and nothing else: no default is mixed in here. */
async function readAlertInput(input, profile, readFile) {
    const { alert, alertFile } = input;
    if (alert !== undefined)
        return writtenAlert(alert, 'alert', profile);
    if (alertFile !== undefined)
        return writtenAlert(await readFile(alertFile, 'alert-file'), alertFile, profile);
    const { channelType, webhookId, alert: _, alertFile: __, ...fields } = input;
    const declared = Object.entries(fields).filter(([name, value]) => name in singleFields && value !== undefined);
    const channel = webhookId === undefined ? [] : [['channel', { type: 'webhook', webhookId }]];
    return _api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__/* .alertBodySchema */ .af.parse(Object.fromEntries([...declared, ...channel]));
}
function writtenAlert(written, name, profile) {
    const alert = (0,_written_document_js__WEBPACK_IMPORTED_MODULE_3__/* .readWritten */ .IL)(written, name, _api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__/* .alertBodySchema */ .af);
    const beyond = Object.keys(alert).filter((field) => !neutralFields.has(field) && !profile.extraAlertFields.includes(field));
    if (beyond.length === 0)
        return alert;
    throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_5__/* .InputError */ .dz(beyond.map((field) => ({
        name: `${name}.${field}`,
        message: 'is no field of the neutral contract; set the profile of a product that has it',
    })));
}
const neutralFields = new Set(['dashboardId', 'tileId', 'threshold', 'interval', 'source', 'thresholdType', 'channel', 'name', 'message']);
/** The body of a new alert, with the documented defaults. Throws an InputError when the document lacks something. */
function toNewAlert(declared) {
    const body = { source: 'tile', thresholdType: 'above', ...declared };
    const missing = (0,_api_alert_body_js__WEBPACK_IMPORTED_MODULE_1__/* .missingInAlert */ .sk)(body);
    if (missing.length > 0)
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_5__/* .InputError */ .dz(missing.map((field) => ({ name: `alert.${field}`, message: 'is missing' })));
    return body;
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

/***/ 9775:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   createAlert: () => (/* binding */ createAlert)
/* harmony export */ });
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(2857);
/* harmony import */ var _api_api_error_js__WEBPACK_IMPORTED_MODULE_8__ = __webpack_require__(4972);
/* harmony import */ var _kernel_errors_js__WEBPACK_IMPORTED_MODULE_6__ = __webpack_require__(3314);
/* harmony import */ var _kernel_text_js__WEBPACK_IMPORTED_MODULE_9__ = __webpack_require__(6958);
/* harmony import */ var _report_line_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(7174);
/* harmony import */ var _alert_change_js__WEBPACK_IMPORTED_MODULE_7__ = __webpack_require__(6357);
/* harmony import */ var _alert_input_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(5653);
/* harmony import */ var _alert_report_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(2427);
/* harmony import */ var _fields_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4077);
/* harmony import */ var _operation_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9583);
// Owns the operation that creates one alert: by default one POST and no other request.










const ifExists = (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .choice */ .Yq)(['create', 'skip', 'update', 'fail'], 'What to do when there is an alert of the same name, dashboard and tile: `create` does not look and creates one; the others look first.');
const createAlert = (0,_operation_js__WEBPACK_IMPORTED_MODULE_1__/* .defineOperation */ .h9)({
    summary: 'Creates one alert. The request is never sent twice.',
    effect: 'write',
    scope: 'service',
    input: _alert_input_js__WEBPACK_IMPORTED_MODULE_2__/* .alertInput */ .Ty.extend({ ifExists: ifExists.default('create') }),
    output: _alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .alertOutput */ .ZW,
    details: _alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .alertDetails */ .FM.extend({
        outcome: zod__WEBPACK_IMPORTED_MODULE_4__/* ["enum"] */ .k5n(['created', 'updated', 'unchanged', 'skipped']).describe('What was done.'),
    }),
    example: {
        dashboardId: '65f5e4a35eedc0de0000000c',
        tileId: '65f5e4a35eedc0de0000000e',
        threshold: 5,
        interval: '1h',
        webhookId: '65f5e4a35eedc0de00000009',
        name: 'Checkout errors',
        message: 'More than 5 errors in an hour',
    },
    check: (given) => [...(0,_alert_input_js__WEBPACK_IMPORTED_MODULE_2__/* .checkAlertInput */ .Bq)(given), ...(0,_alert_input_js__WEBPACK_IMPORTED_MODULE_2__/* .checkNewAlert */ .X)(given)],
    async run({ api, service, profile, readFile }, input) {
        const body = (0,_alert_input_js__WEBPACK_IMPORTED_MODULE_2__/* .toNewAlert */ .qi)(await (0,_alert_input_js__WEBPACK_IMPORTED_MODULE_2__/* .readAlertInput */ .rY)(input, profile, readFile));
        if (input.ifExists !== 'create') {
            const [existing, second] = await findAlike(api, service, body);
            if (existing !== undefined)
                return meetExisting({ api, service, body, existing, second, wish: input.ifExists });
        }
        return { ...(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .outputsOf */ .Yz)(await createOnce(api, service, body), true), outcome: 'created' };
    },
    report: ({ alert, outcome }) => ({
        headline: outcome === 'skipped'
            ? (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `Alert ${(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .nameOf */ .Vb)(alert)} exists already and was left as it is`
            : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `Alert ${(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .nameOf */ .Vb)(alert)} ${verbs[outcome]}`,
        blocks: [(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .alertFacts */ .qi)(alert)],
    }),
});
const verbs = { created: (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `created`, updated: (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `updated`, unchanged: (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `is as it should be` };
async function meetExisting({ api, service, body, existing, second, wish }) {
    if (wish === 'skip')
        return { ...(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .outputsOf */ .Yz)(existing, false), outcome: 'skipped' };
    if (wish === 'fail')
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_6__/* .WatchkeeperError */ .GQ('conflict', `There is such an alert already: ${existing.id}. Nothing was created.`);
    if (second !== undefined) {
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_6__/* .WatchkeeperError */ .GQ('conflict', `Several alerts have this name, dashboard and tile (${existing.id}, ${second.id}): nobody can tell which one to update.`);
    }
    const { alert, changed } = await (0,_alert_change_js__WEBPACK_IMPORTED_MODULE_7__/* .changeAlert */ .$)(api, service, existing, body);
    return { ...(0,_alert_report_js__WEBPACK_IMPORTED_MODULE_3__/* .outputsOf */ .Yz)(alert, changed), outcome: changed ? 'updated' : 'unchanged' };
}
/** Throws when the list may not be whole: an alert that was not seen would be created a second time. */
async function findAlike(api, service, body) {
    if (!body.name)
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_6__/* .InputError */ .dz([{ name: 'name', message: 'is missing: if-exists looks for the name' }]);
    const { items, mayBeCut } = await api.alerts.list(service);
    const alike = items.filter((alert) => isAlike(alert, body));
    if (alike.length === 0 && mayBeCut)
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_6__/* .WatchkeeperError */ .GQ('conflict', 'The list of alerts may not be complete, so nobody can tell whether this one exists.');
    return alike;
}
const isAlike = (alert, body) => ['name', 'dashboardId', 'tileId', 'savedSearchId'].every((field) => (alert[field] ?? '') === (body[field] ?? ''));
// The alert bears no marker by which it could be found again for certain, so a lost answer ends in a question to the user.
async function createOnce(api, service, body) {
    try {
        return await api.alerts.create(service, body);
    }
    catch (thrown) {
        if (!(thrown instanceof _api_api_error_js__WEBPACK_IMPORTED_MODULE_8__/* .ApiError */ .h) || thrown.kind !== 'may-exist')
            throw thrown;
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_6__/* .WatchkeeperError */ .GQ('may-exist', `${thrown.message}\n${await describeAlike(api, service, body)}`, { cause: thrown });
    }
}
async function describeAlike(api, service, body) {
    try {
        const { items } = await api.alerts.list(service);
        const alike = items.filter((alert) => isAlike(alert, body)).map(({ id }) => (0,_kernel_text_js__WEBPACK_IMPORTED_MODULE_9__/* .quote */ .hD)(id));
        return alike.length === 0 ? 'Right now no alert matches it.' : `Right now these alerts match it: ${alike.slice(0, 10).join(', ')}.`;
    }
    catch {
        return 'Whether an alert matches it could not be read either.';
    }
}


/***/ }),

/***/ 1287:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   IL: () => (/* binding */ readWritten),
/* harmony export */   ZH: () => (/* binding */ documentText),
/* harmony export */   wW: () => (/* binding */ documentFile)
/* harmony export */ });
/* harmony import */ var _kernel_errors_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(3314);
/* harmony import */ var _kernel_names_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(2773);
/* harmony import */ var _kernel_text_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(6958);
/* harmony import */ var _provision_document_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(7850);
/* harmony import */ var _fields_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(4077);





const documentText = (noun) => (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .longText */ .SW)(`The ${noun} as YAML or JSON, in the API's field names.`, 1_000_000).optional();
const documentFile = (noun) => (0,_fields_js__WEBPACK_IMPORTED_MODULE_0__/* .filePath */ .s$)(`File with the ${noun} as YAML or JSON, in the API's field names.`).optional();
/** Parses and checks. Throws an InputError that lists everything wrong, each with its place. */
function readWritten(text, name, schema) {
    const reading = (0,_provision_document_js__WEBPACK_IMPORTED_MODULE_1__/* .readDocument */ .u)(text, name);
    if ('problems' in reading)
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .InputError */ .dz(reading.problems);
    const parsed = schema.safeParse(reading.value);
    if (parsed.success)
        return parsed.data;
    throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_2__/* .InputError */ .dz(parsed.error.issues.flatMap((issue) => toProblems(issue, name, reading.value, schema)));
}
function toProblems(issue, name, written, schema) {
    const place = [name, ...issue.path.map(String)].map((part) => (0,_kernel_text_js__WEBPACK_IMPORTED_MODULE_3__/* .quote */ .hD)(part, 60)).join('.');
    if (issue.code === 'unrecognized_keys') {
        const known = issue.path.length === 0 ? knownKeys(schema) : [];
        return issue.keys.map((key) => ({ name: place, message: `"${(0,_kernel_text_js__WEBPACK_IMPORTED_MODULE_3__/* .quote */ .hD)(key, 60)}" is not known${(0,_kernel_names_js__WEBPACK_IMPORTED_MODULE_4__/* .didYouMean */ .au)(key, known)}` }));
    }
    const value = issue.path.reduce((inner, key) => inner?.[key], written);
    const given = value === undefined ? 'is missing' : `${(0,_kernel_text_js__WEBPACK_IMPORTED_MODULE_3__/* .quote */ .hD)(JSON.stringify(value) ?? '', 80)} is not accepted`;
    const accepted = issue.code === 'invalid_value'
        ? `; accepted: ${issue.values.join(', ')}${(0,_kernel_names_js__WEBPACK_IMPORTED_MODULE_4__/* .didYouMean */ .au)(String(value), issue.values.map(String))}`
        : `: ${issue.message}`;
    return [{ name: place, message: `${given}${value === undefined ? '' : accepted}` }];
}
const knownKeys = (schema) => ('shape' in schema ? Object.keys(schema.shape) : []);


/***/ })

};
