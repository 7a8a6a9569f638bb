export const id = 17;
export const ids = [17];
export const modules = {

/***/ 17:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {

__webpack_require__.r(__webpack_exports__);
/* harmony export */ __webpack_require__.d(__webpack_exports__, {
/* harmony export */   getBackup: () => (/* binding */ getBackup)
/* harmony export */ });
/* harmony import */ var zod__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__(2857);
/* harmony import */ var _api_backups_js__WEBPACK_IMPORTED_MODULE_3__ = __webpack_require__(1731);
/* harmony import */ var _api_path_js__WEBPACK_IMPORTED_MODULE_1__ = __webpack_require__(9745);
/* harmony import */ var _kernel_errors_js__WEBPACK_IMPORTED_MODULE_5__ = __webpack_require__(3314);
/* harmony import */ var _report_line_js__WEBPACK_IMPORTED_MODULE_4__ = __webpack_require__(7174);
/* harmony import */ var _operation_js__WEBPACK_IMPORTED_MODULE_2__ = __webpack_require__(9583);
// Owns the operation that reads one backup.






const backupId = zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP()
    .transform((id) => id.toLowerCase())
    .refine((id) => id === 'latest' || (0,_api_path_js__WEBPACK_IMPORTED_MODULE_1__/* .isUuid */ .O1)(id))
    .meta({
    description: 'The backup: its id, or `latest` for the one that was started last, whatever became of it.',
    accepts: 'a uuid, or latest',
});
const backupOutput = zod__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({
    backupId: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().describe('Id of the backup.'),
    backupName: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().optional().describe('Name of the backup, where it has one.'),
    backupStatus: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().optional().describe('done, error or in_progress.'),
    backupStartedAt: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().optional().describe('When it was started, ISO 8601 in UTC.'),
    backupFinishedAt: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().optional().describe('When it was finished, ISO 8601 in UTC; absent while it runs.'),
    backupAgeHours: zod__WEBPACK_IMPORTED_MODULE_0__/* .number */ .aig().optional().describe('Hours since it was started, which is the moment whose data it holds; two decimals.'),
    backupSizeBytes: zod__WEBPACK_IMPORTED_MODULE_0__/* .number */ .aig().optional().describe('Size in bytes.'),
    backupDurationSeconds: zod__WEBPACK_IMPORTED_MODULE_0__/* .number */ .aig().optional().describe('How long it took, or has taken so far, in seconds.'),
    backupBucketPath: zod__WEBPACK_IMPORTED_MODULE_0__/* .string */ .YjP().optional().describe('Where it is stored, for a bucket of your own.'),
});
const getBackup = (0,_operation_js__WEBPACK_IMPORTED_MODULE_2__/* .defineOperation */ .h9)({
    summary: 'Reads one backup, by id or the latest.',
    effect: 'read',
    scope: 'service',
    input: zod__WEBPACK_IMPORTED_MODULE_0__/* .strictObject */ .rej({ backupId }),
    output: backupOutput,
    details: zod__WEBPACK_IMPORTED_MODULE_0__/* .object */ .Ikc({ backup: _api_backups_js__WEBPACK_IMPORTED_MODULE_3__/* .backupSchema */ .I.describe('The backup, as the API answered.') }),
    example: { backupId: 'latest' },
    async run({ api, service, clock }, input) {
        const backup = input.backupId === 'latest' ? await latest(api, service) : await api.backups.get(service, input.backupId);
        return { ...outputsOf(backup, clock.now()), backup };
    },
    report: (result) => ({
        headline: (0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `Backup ${(0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .data */ .p)(result.backupName ?? result.backupId)} is ${(0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .data */ .p)(result.backupStatus ?? 'in no known state')}${ageOf(result)}`,
        blocks: [
            {
                kind: 'facts',
                facts: [
                    { label: 'Started', value: orDash(result.backupStartedAt) },
                    { label: 'Finished', value: orDash(result.backupFinishedAt) },
                    { label: 'Size', value: result.backupSizeBytes === undefined ? [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .ours */ .Od)('–')] : [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .ours */ .Od)(formatBytes(result.backupSizeBytes))] },
                    { label: 'Took', value: result.backupDurationSeconds === undefined ? [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .ours */ .Od)('–')] : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `${result.backupDurationSeconds} s` },
                    { label: 'Id', value: [(0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .data */ .p)(result.backupId)] },
                ],
            },
        ],
    }),
});
// Documented as newest first; an order that nothing depends on cannot mislead.
async function latest(api, service) {
    const backups = await api.backups.list(service);
    const [newest] = backups.toSorted((a, b) => startOf(b) - startOf(a));
    if (newest === undefined)
        throw new _kernel_errors_js__WEBPACK_IMPORTED_MODULE_5__/* .WatchkeeperError */ .GQ('not-found', `Service ${service.serviceId} has no backup yet.`);
    return newest;
}
const startOf = ({ startedAt }) => (startedAt ? Date.parse(startedAt) : Number.NEGATIVE_INFINITY);
function outputsOf(backup, nowMs) {
    const { id, backupName, status, startedAt, finishedAt, sizeInBytes, durationInSeconds, bucket } = backup;
    return {
        backupId: id,
        ...(backupName && { backupName }),
        ...(status && { backupStatus: status }),
        ...(startedAt && { backupStartedAt: toIso(startedAt), backupAgeHours: Math.round((nowMs - Date.parse(startedAt)) / 36_000) / 100 }),
        ...(finishedAt && { backupFinishedAt: toIso(finishedAt) }),
        ...(typeof sizeInBytes === 'number' && { backupSizeBytes: sizeInBytes }),
        ...(typeof durationInSeconds === 'number' && { backupDurationSeconds: durationInSeconds }),
        ...(bucket?.bucketPath && { backupBucketPath: bucket.bucketPath }),
    };
}
const toIso = (text) => new Date(text).toISOString();
const ageOf = ({ backupAgeHours }) => backupAgeHours === undefined ? [] : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .say */ .cv) `, started ${backupAgeHours} hours ago`;
const orDash = (text) => [text === undefined ? (0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .ours */ .Od)('–') : (0,_report_line_js__WEBPACK_IMPORTED_MODULE_4__/* .ours */ .Od)(text)];
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
function formatBytes(bytes) {
    const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
    const value = bytes / 1024 ** power;
    return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}


/***/ })

};
