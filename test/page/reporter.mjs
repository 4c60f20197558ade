/* reporter.mjs: print the results of node's tests as lines that test/runner/drive.py reads.
 *
 *     node --test --test-reporter=test/page/reporter.mjs FILE… */

/* Print a failed test with its error, and a skipped one with its reason. */
export default async function* report(events) {
    for await (const {type, data} of events) {
        if (type !== 'test:pass' && type !== 'test:fail')
            continue;
        const skip = data.skip === undefined || data.skip === false ? ''
            : ` # SKIP ${data.skip === true || data.skip === '' ? 'it has none' : data.skip}`;
        const name = data.name.replaceAll('#', '');

        yield `${type === 'test:pass' ? 'ok' : 'not ok'} - ${name}${skip}\n`;
        if (type === 'test:fail')
            yield `${why(data.details.error)}\n`;
    }
}

function why(error) {
    const text = error?.cause?.stack ?? error?.stack ?? String(error);

    return text.split('\n').slice(0, 60).map((line) => `#   ${line}`).join('\n');
}
