export const id = 247;
export const ids = [247];
export const modules = {

/***/ 3247:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   doctor: () => (/* binding */ doctor)
/* harmony export */ });
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2857);
/* harmony import */ var _api_api_error_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(4972);
/* harmony import */ var _kernel_days_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(1496);
/* harmony import */ var _kernel_errors_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(3314);
/* harmony import */ var _report_line_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(7174);
/* harmony import */ var _operation_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9583);
// Owns the operation that finds out why nothing works: address, key, role, limits. Every check is a real request.






const check = zod__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    name: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().describe('What was tried.'),
    outcome: zod__WEBPACK_IMPORTED_MODULE_0__/* ["enum"] */ .k5n(['ok', 'failed', 'skipped']),
    detail: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().describe('What came of it, in full.'),
    advice: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().optional().describe('What to do about a failure.'),
});
const doctor = (0,_operation_js__WEBPACK_IMPORTED_MODULE_1__/* .defineOperation */ .h9)({
    summary: 'Checks address, key, role and limits with harmless requests, and says what is wrong.',
    effect: 'read',
    scope: 'organization',
    input: zod__WEBPACK_IMPORTED_MODULE_0__/* .strictObject */ .rej({}),
    output: zod__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
        healthy: zod__WEBPACK_IMPORTED_MODULE_0__/* .boolean */ .zMY().describe('Whether no check failed.'),
        requestsLeft: zod__WEBPACK_IMPORTED_MODULE_0__/* .int */ .Whr().optional().describe("Requests left in the rate limit's window, where the service tells."),
    }),
    details: zod__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ checks: zod__WEBPACK_IMPORTED_MODULE_0__/* .array */ .YOg(check).describe('The checks, in order.') }),
    example: {},
    async run(context) {
        const checks = [];
        let hopeless;
        for (const { name, run } of probes(context)) {
            const { check: done, dooms } = hopeless === undefined ? await observe(name, run, context) : skip(name, hopeless);
            checks.push(done);
            if (dooms)
                hopeless = `not tried, because ${name} failed`;
        }
        const limit = context.api.rateLimit();
        const left = limit === undefined
            ? 'the service does not tell; kept to 10 requests per 10 s'
            : `${limit.remaining} of ${limit.limit} requests left in this window`;
        const rateLimit = { name: 'rate limit', outcome: hopeless === undefined ? 'ok' : 'skipped', detail: hopeless ?? left };
        return {
            healthy: checks.every(({ outcome }) => outcome !== 'failed'),
            ...(limit && { requestsLeft: limit.remaining }),
            checks: [...checks, rateLimit],
        };
    },
    judge({ checks }) {
        const failed = checks.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name);
        return failed.length === 0 ? _operation_js__WEBPACK_IMPORTED_MODULE_1__/* .pass */ .IX : { status: 'fail', reasons: [[(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .ours */ .Od)(failed.join(', '))]] };
    },
    report: ({ checks }) => ({
        headline: headlineOf(checks),
        blocks: [
            checkTable(checks),
            ...checks.filter(({ outcome }) => outcome === 'failed').map(({ detail }) => ({ kind: 'preformatted', text: detail })),
        ],
    }),
});
// In order of what each needs: the first answer proves the address and the key, the others one permission each.
function probes({ api, organizationId, service, apiOrigin, profile, clock }) {
    const today = (0,_kernel_days_js__WEBPACK_IMPORTED_MODULE_3__/* .dayOf */ .kb)(clock.now());
    return [
        {
            name: 'usage cost',
            run: async () => {
                const { unit } = await api.usage.read(organizationId, { from: today, to: today }, []);
                return `${apiOrigin} answers, the key is accepted and may read costs (in ${unit})`;
            },
        },
        {
            name: 'dashboards',
            run: service === undefined
                ? 'no-service'
                : async () => `${(await api.dashboards.list(service)).items.length} dashboards, profile ${profile.name}`,
        },
        { name: 'alerts', run: service === undefined ? 'no-service' : async () => `${(await api.alerts.list(service)).items.length} alerts` },
        { name: 'backups', run: service === undefined ? 'no-service' : async () => `${(await api.backups.list(service)).length} backups` },
    ];
}
/** Failures after which no other request can fare better. */
const doomKinds = new Set(['authentication', 'network', 'tls', 'timeout', 'deadline', 'redirect']);
const skip = (name, detail) => ({ check: { name, outcome: 'skipped', detail }, dooms: false });
async function observe(name, run, { profile }) {
    if (run === 'no-service')
        return skip(name, 'no service-id was given');
    try {
        return { check: { name, outcome: 'ok', detail: await run() }, dooms: false };
    }
    catch (thrown) {
        const error = (0,_kernel_errors_js__WEBPACK_IMPORTED_MODULE_4__/* .toWatchkeeperError */ .hK)(thrown);
        const { kind, message } = error;
        if (kind === 'cancelled' || kind === 'bug')
            throw thrown;
        // The list of backups is no part of the neutral contract.
        if (name === 'backups' && profile.name === 'neutral' && kind === 'not-served')
            return skip(name, 'this service does not list backups');
        const advice = error instanceof _api_api_error_js__WEBPACK_IMPORTED_MODULE_5__/* .ApiError */ .h && error.advice !== '' ? { advice: error.advice } : {};
        return { check: { name, outcome: 'failed', detail: message, ...advice }, dooms: doomKinds.has(kind) };
    }
}
function headlineOf(checks) {
    const tried = checks.filter(({ outcome }) => outcome !== 'skipped').length;
    const failed = checks.filter(({ outcome }) => outcome === 'failed').length;
    return failed === 0 ? (0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `all ${tried} checks ok` : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .say */ .cv) `${failed} of ${tried} checks failed`;
}
const words = { ok: '✅ ok', failed: '❌ failed', skipped: '– skipped' };
const checkTable = (checks) => ({
    kind: 'table',
    columns: [{ title: 'Check' }, { title: 'Outcome' }, { title: 'Detail' }],
    rows: checks.map(({ name, outcome, detail, advice }) => [[(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .ours */ .Od)(name)], [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .ours */ .Od)(words[outcome])], [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_2__/* .data */ .p)(advice ?? detail)]]),
});


/***/ })

};
