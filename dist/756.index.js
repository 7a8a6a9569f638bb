export const id = 756;
export const ids = [756];
export const modules = {

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

/***/ 7756:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   listSources: () => (/* binding */ listSources)
/* harmony export */ });
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(2857);
/* harmony import */ var _api_sources_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(6354);
/* harmony import */ var _report_line_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(7174);
/* harmony import */ var _fields_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(4077);
/* harmony import */ var _listing_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9222);
/* harmony import */ var _operation_js__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(9583);
// Owns the operation on sources: they are listed, and nothing else.






const listSources = (0,_operation_js__WEBPACK_IMPORTED_MODULE_0__/* .defineOperation */ .h9)({
    summary: 'Lists the sources of a service: where its logs, traces and metrics come from.',
    effect: 'read',
    scope: 'service',
    input: zod__WEBPACK_IMPORTED_MODULE_1__/* .strictObject */ .rej({
        nameContains: _listing_js__WEBPACK_IMPORTED_MODULE_2__/* .nameContains */ .TY.optional(),
        kind: (0,_fields_js__WEBPACK_IMPORTED_MODULE_3__/* .choice */ .Yq)(_api_sources_js__WEBPACK_IMPORTED_MODULE_4__/* .sourceKinds */ .B, 'Only sources of this kind.').optional(),
    }),
    output: _listing_js__WEBPACK_IMPORTED_MODULE_2__/* .listOutput */ .OW,
    details: zod__WEBPACK_IMPORTED_MODULE_1__/* .object */ .Ikc({
        sources: zod__WEBPACK_IMPORTED_MODULE_1__/* .array */ .YOg(_api_sources_js__WEBPACK_IMPORTED_MODULE_4__/* .sourceSchema */ .d).describe('The sources, as the API answered.'),
        mayBeCut: _listing_js__WEBPACK_IMPORTED_MODULE_2__/* .mayBeCut */ .zB,
    }),
    example: { kind: 'log' },
    async run({ api, service }, { nameContains: part, kind }) {
        const list = await api.sources.list(service);
        const { items, ...result } = (0,_listing_js__WEBPACK_IMPORTED_MODULE_2__/* .toListResult */ .ts)(list, part, (source) => kind === undefined || source.kind === kind);
        return { ...result, sources: items };
    },
    judge: _listing_js__WEBPACK_IMPORTED_MODULE_2__/* .judgeCutList */ ._u,
    report: ({ sources }) => ({
        headline: (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .say */ .cv) `${(0,_listing_js__WEBPACK_IMPORTED_MODULE_2__/* .countOf */ .pq)(sources, 'source')}`,
        blocks: [
            {
                kind: 'table',
                columns: [{ title: 'Name' }, { title: 'Kind' }, { title: 'Id' }],
                rows: sources.map(({ name, kind, id }) => [[(0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .data */ .p)(name)], [kind ? (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .data */ .p)(kind) : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .ours */ .Od)('–')], [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_5__/* .data */ .p)(id)]]),
            },
        ],
    }),
});


/***/ })

};
