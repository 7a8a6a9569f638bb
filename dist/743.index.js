export const id = 743;
export const ids = [743];
export const modules = {

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

/***/ 4743:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

// ESM COMPAT FLAG
__webpack_require__.r(__webpack_exports__);

// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  createDashboard: () => (/* binding */ createDashboard),
  deleteDashboard: () => (/* binding */ deleteDashboard),
  getDashboard: () => (/* binding */ getDashboard),
  listDashboards: () => (/* binding */ listDashboards),
  updateDashboard: () => (/* binding */ updateDashboard)
});

// EXTERNAL MODULE: ./node_modules/zod/v4/classic/schemas.js + 11 modules
var schemas = __webpack_require__(2857);
// EXTERNAL MODULE: ./lib/api/dashboards.js
var dashboards = __webpack_require__(4023);
// EXTERNAL MODULE: ./lib/kernel/same.js
var same = __webpack_require__(5663);
// EXTERNAL MODULE: ./lib/report/line.js
var line = __webpack_require__(7174);
;// CONCATENATED MODULE: ./lib/api/dashboard-body.js
// Owns what may be sent of a dashboard: fields and limits as the API documents them. What a tile shows is the API's to judge.

const word = (longest) => schemas/* string */.YjP().min(1).max(longest);
const tile = schemas/* looseObject */._H3({
    name: schemas/* string */.YjP(),
    x: schemas/* int */.Whr().min(0).max(23),
    y: schemas/* int */.Whr().min(0),
    w: schemas/* int */.Whr().min(1).max(24),
    h: schemas/* int */.Whr().min(1),
    /** Kept only when the dashboard has such a tile; otherwise the server gives a new one. */
    id: schemas/* string */.YjP().max(36).optional(),
    config: schemas/* looseObject */._H3({}).optional(),
});
const container = schemas/* looseObject */._H3({ id: word(256), title: word(256) });
/** A dashboard as people write it, in the API's own names. */
const dashboardBodySchema = schemas/* strictObject */.rej({
    name: word(1024),
    tiles: schemas/* array */.YOg(tile).max(500),
    tags: schemas/* array */.YOg(schemas/* string */.YjP().min(1).max(32)).max(50).optional(),
    filters: schemas/* array */.YOg(schemas/* looseObject */._H3({ name: schemas/* string */.YjP(), id: schemas/* string */.YjP().optional() })).optional(),
    savedQuery: schemas/* string */.YjP().nullish(),
    savedQueryLanguage: schemas/* enum */.k5n(['sql', 'lucene']).nullish(),
    savedFilterValues: schemas/* array */.YOg(schemas/* looseObject */._H3({})).optional(),
    containers: schemas/* array */.YOg(container).max(50).optional(),
});

// EXTERNAL MODULE: ./lib/operations/written-document.js
var written_document = __webpack_require__(1287);
;// CONCATENATED MODULE: ./lib/operations/dashboard-input.js
// Owns what users say of a dashboard: a document, inline or in a file, and how it meets the dashboard that exists.




const dashboardInput = schemas/* strictObject */.rej({ dashboard: (0,written_document/* documentText */.ZH)('dashboard'), dashboardFile: (0,written_document/* documentFile */.wW)('dashboard') });
function checkDashboardInput({ names }) {
    const given = ['dashboard', 'dashboardFile'].filter((name) => names.has(name));
    if (given.length === 2)
        return [{ name: 'dashboard', message: 'cannot be given together with dashboard-file' }];
    return given.length === 0 ? [{ name: 'dashboard', message: 'is missing: give dashboard or dashboard-file' }] : [];
}
async function readDashboardInput({ dashboard, dashboardFile }, readFile) {
    if (dashboard !== undefined)
        return (0,written_document/* readWritten */.IL)(dashboard, 'dashboard', dashboardBodySchema);
    return (0,written_document/* readWritten */.IL)(await readFile(dashboardFile ?? '', 'dashboard-file'), dashboardFile ?? '', dashboardBodySchema);
}
/**
 * The whole body of an update. Tiles and filters without an id get the one that the current ones of the same name have, so
 * that alerts on them live on. What the document does not mention stays.
 */
function toUpdatedDashboard(current, declared) {
    const before = (0,dashboards/* toDashboardBody */.w)(current);
    const filters = declared.filters && withIds(declared.filters, Array.isArray(before.filters) ? before.filters : []);
    return { ...before, ...declared, tiles: withIds(declared.tiles, current.tiles), ...(filters && { filters }) };
}
// Two of one name are told apart by their order.
function withIds(declared, current) {
    const taken = new Set(declared.map(({ id }) => id).filter((id) => id !== undefined));
    return declared.map((item) => {
        if (item.id !== undefined)
            return item;
        const match = current.find(({ id, name }) => name === item.name && id !== undefined && !taken.has(id));
        if (match?.id === undefined)
            return item;
        taken.add(match.id);
        return { ...item, id: match.id };
    });
}
/** Ids of tiles that the update does away with: their alerts go with them. */
function tilesLost(current, after) {
    const kept = new Set(after.tiles.map(({ id }) => id));
    return new Set(current.tiles.map(({ id }) => id).filter((id) => !kept.has(id)));
}

;// CONCATENATED MODULE: ./lib/operations/dashboard-report.js
// Owns how dashboards are shown.



const dashboardOutput = schemas/* object */.Ikc({
    dashboardId: schemas/* string */.YjP().describe('Id of the dashboard.'),
    dashboardName: schemas/* string */.YjP().describe('Name of the dashboard.'),
    tileIds: schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* string */.YjP())
        .describe('Ids of its tiles by their names, as a JSON object; the first of those that share a name.'),
    changed: schemas/* boolean */.zMY().describe('Whether this run changed anything.'),
});
const dashboardDetails = schemas/* object */.Ikc({ dashboard: dashboards/* dashboardSchema */.k.describe('The dashboard, as the API answered.') });
const outputsOf = (dashboard, changed) => ({
    dashboardId: dashboard.id,
    dashboardName: dashboard.name,
    tileIds: Object.fromEntries(dashboard.tiles.toReversed().map(({ id, name }) => [name || id, id])),
    changed,
    dashboard,
});
const nameOf = ({ name, id }) => (0,line/* data */.p)(name || id);
const tagsOf = ({ tags }) => tags.length === 0 ? [(0,line/* ours */.Od)('–')] : tags.flatMap((tag, i) => (i === 0 ? [(0,line/* data */.p)(tag)] : [(0,line/* ours */.Od)(', '), (0,line/* data */.p)(tag)]));
const tileTable = ({ tiles }) => ({
    kind: 'table',
    columns: [{ title: 'Tile' }, { title: 'Id' }],
    rows: tiles.map(({ id, name }) => [[name ? (0,line/* data */.p)(name) : (0,line/* ours */.Od)('–')], [(0,line/* data */.p)(id)]]),
});
const dashboardTable = (dashboards) => ({
    kind: 'table',
    columns: [{ title: 'Name' }, { title: 'Tiles', align: 'right' }, { title: 'Tags' }, { title: 'Id' }],
    rows: dashboards.map((dashboard) => [[nameOf(dashboard)], (0,line/* say */.cv) `${dashboard.tiles.length}`, tagsOf(dashboard), [(0,line/* data */.p)(dashboard.id)]]),
});

// EXTERNAL MODULE: ./lib/operations/fields.js
var fields = __webpack_require__(4077);
// EXTERNAL MODULE: ./lib/operations/listing.js
var listing = __webpack_require__(9222);
// EXTERNAL MODULE: ./lib/operations/operation.js
var operation = __webpack_require__(9583);
;// CONCATENATED MODULE: ./lib/operations/lost-alerts.js
// Owns finding the alerts that a change of a dashboard takes along, so that nobody loses one without being told.



const lostAlerts = schemas/* array */.YOg(schemas/* object */.Ikc({ id: schemas/* string */.YjP(), name: schemas/* string */.YjP() }))
    .describe('Alerts that the server deletes because their tile is gone.');
/** One request, and none when no tile goes. */
async function findLostAlerts(api, service, tileIds) {
    if (tileIds.size === 0)
        return [];
    const { items } = await api.alerts.list(service);
    return items.filter(({ tileId }) => tileId && tileIds.has(tileId)).map(({ id, name }) => ({ id, name: name ?? '' }));
}
const judgeLostAlerts = (lost) => lost.length === 0
    ? operation/* pass */.IX
    : { status: 'warn', reasons: [(0,line/* say */.cv) `${lost.length} ${(0,line/* ours */.Od)(lost.length === 1 ? 'alert' : 'alerts')} went with the tiles`] };
const lostAlertsBlocks = (lost) => lost.length === 0
    ? []
    : [
        {
            kind: 'table',
            title: 'Alerts that went with their tiles',
            columns: [{ title: 'Name' }, { title: 'Id' }],
            rows: lost.map(({ id, name }) => [[(0,line/* data */.p)(name)], [(0,line/* data */.p)(id)]]),
        },
    ];

;// CONCATENATED MODULE: ./lib/operations/dashboards.js
// Owns the operations on dashboards.










const dashboardId = (0,fields/* resourceId */.a)('The dashboard.');
const listDashboards = (0,operation/* defineOperation */.h9)({
    summary: 'Lists the dashboards of a service.',
    effect: 'read',
    scope: 'service',
    input: schemas/* strictObject */.rej({ nameContains: listing/* nameContains */.TY.optional(), tag: (0,fields/* text */.Qq)('Only dashboards that bear this tag.', 256).optional() }),
    output: listing/* listOutput */.OW,
    details: schemas/* object */.Ikc({ dashboards: schemas/* array */.YOg(dashboards/* dashboardSchema */.k).describe('The dashboards, as the API answered.'), mayBeCut: listing/* mayBeCut */.zB }),
    example: { tag: 'shop' },
    async run({ api, service }, { nameContains: part, tag }) {
        const list = await api.dashboards.list(service);
        const { items, ...result } = (0,listing/* toListResult */.ts)(list, part, ({ tags }) => tag === undefined || tags.includes(tag));
        return { ...result, dashboards: items };
    },
    judge: listing/* judgeCutList */._u,
    report: ({ dashboards }) => ({ headline: (0,line/* say */.cv) `${(0,listing/* countOf */.pq)(dashboards, 'dashboard')}`, blocks: [dashboardTable(dashboards)] }),
});
const getDashboard = (0,operation/* defineOperation */.h9)({
    summary: 'Reads one dashboard with its tiles.',
    effect: 'read',
    scope: 'service',
    input: schemas/* strictObject */.rej({ dashboardId }),
    output: dashboardOutput,
    details: dashboardDetails,
    example: { dashboardId: '65f5e4a35eedc0de0000000c' },
    async run({ api, service }, input) {
        return outputsOf(await api.dashboards.get(service, input.dashboardId), false);
    },
    report: ({ dashboard }) => ({
        headline: (0,line/* say */.cv) `Dashboard ${nameOf(dashboard)} has ${(0,listing/* countOf */.pq)(dashboard.tiles, 'tile')}`,
        blocks: [tileTable(dashboard)],
    }),
});
const createDashboard = (0,operation/* defineOperation */.h9)({
    summary: 'Creates one dashboard. The request is never sent twice.',
    effect: 'write',
    scope: 'service',
    input: dashboardInput,
    output: dashboardOutput,
    details: dashboardDetails,
    example: {
        dashboard: '{ name: On call, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }',
    },
    check: checkDashboardInput,
    async run({ api, service, readFile }, input) {
        return outputsOf(await api.dashboards.create(service, await readDashboardInput(input, readFile)), true);
    },
    report: ({ dashboard }) => ({ headline: (0,line/* say */.cv) `Dashboard ${nameOf(dashboard)} created`, blocks: [tileTable(dashboard)] }),
});
const updateDashboard = (0,operation/* defineOperation */.h9)({
    summary: 'Makes one dashboard equal to a document. Tiles keep their ids by name, so that their alerts live on.',
    effect: 'write',
    scope: 'service',
    input: schemas/* strictObject */.rej({ dashboardId, ...dashboardInput.shape }),
    output: dashboardOutput,
    details: dashboardDetails.extend({ lostAlerts: lostAlerts }),
    example: {
        dashboardId: '65f5e4a35eedc0de0000000c',
        dashboard: '{ name: On call, tiles: [{ name: Notes, x: 0, y: 0, w: 12, h: 4, config: { displayType: markdown, markdown: Call Ada } }] }',
    },
    check: checkDashboardInput,
    async run({ api, service, readFile }, { dashboardId: id, ...input }) {
        const declared = await readDashboardInput(input, readFile);
        const current = await api.dashboards.get(service, id);
        const after = toUpdatedDashboard(current, declared);
        if ((0,same/* isSame */.F)((0,dashboards/* toDashboardBody */.w)(current), after))
            return { ...outputsOf(current, false), lostAlerts: [] };
        const lost = await findLostAlerts(api, service, tilesLost(current, after));
        return { ...outputsOf(await api.dashboards.update(service, id, after), true), lostAlerts: lost };
    },
    judge: ({ lostAlerts: lost }) => judgeLostAlerts(lost),
    report: ({ dashboard, changed, lostAlerts: lost }) => ({
        headline: (0,line/* say */.cv) `Dashboard ${nameOf(dashboard)} ${(0,line/* ours */.Od)(changed ? 'updated' : 'is as it should be')}`,
        blocks: [...lostAlertsBlocks(lost), tileTable(dashboard)],
    }),
});
const deleteDashboard = (0,operation/* defineOperation */.h9)({
    summary: 'Deletes one dashboard, and with it the alerts on its tiles. It is no failure when there is none.',
    effect: 'write',
    scope: 'service',
    input: schemas/* strictObject */.rej({ dashboardId }),
    output: schemas/* object */.Ikc({
        dashboardId: schemas/* string */.YjP().describe('Id of the dashboard.'),
        changed: schemas/* boolean */.zMY().describe('Whether there was such a dashboard.'),
    }),
    details: schemas/* object */.Ikc({ lostAlerts: lostAlerts }),
    example: { dashboardId: '65f5e4a35eedc0de0000000c' },
    async run({ api, service }, { dashboardId: id }) {
        const { items } = await api.alerts.list(service);
        const onIt = items.filter((alert) => alert.dashboardId === id).map((alert) => ({ id: alert.id, name: alert.name ?? '' }));
        const changed = await api.dashboards.remove(service, id);
        return { dashboardId: id, changed, lostAlerts: changed ? onIt : [] };
    },
    judge: ({ lostAlerts: lost }) => judgeLostAlerts(lost),
    report: (result) => ({
        headline: result.changed ? (0,line/* say */.cv) `Deleted dashboard ${(0,line/* data */.p)(result.dashboardId)}` : (0,line/* say */.cv) `There was no dashboard ${(0,line/* data */.p)(result.dashboardId)}`,
        blocks: lostAlertsBlocks(result.lostAlerts),
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
