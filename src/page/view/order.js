/* order.js: sort half a million rows within a tenth of a second.
 *
 * Array.sort with a function would take a second. A radix sort of the bits is used instead: four
 * passes of 16 bits each, least significant first. Each pass is stable, so the whole sort is.
 * Positive 64-bit floating-point numbers sort by their bits; the bits of negative ones are
 * inverted. */
const BUCKETS = 1 << 16;

/* Return four words for each value that sort like the values, least significant first. */
function sortable(values, descending) {
    const bits = new Uint32Array(Float64Array.from(values, (v) => v + 0).buffer);
    for (let i = 0; i < bits.length; i += 2) {
        const negative = bits[i + 1] >>> 31;
        let low = bits[i], high = bits[i + 1];
        if (negative) {
            low = ~low;
            high = ~high;
        } else {
            high ^= 0x80000000;
        }
        bits[i] = descending ? ~low : low;
        bits[i + 1] = descending ? ~high : high;
    }
    return new Uint16Array(bits.buffer);
}

/* Return the indices of VALUES in sorted order. */
function orderOfNumbers(values, descending) {
    const words = sortable(values, descending), length = values.length;
    let from = Uint32Array.from({length}, (_, i) => i), to = new Uint32Array(length);
    for (let word = 0; word < 4; word++) {
        const starts = new Uint32Array(BUCKETS + 1);
        for (let i = 0; i < length; i++)
            starts[words[4 * i + word] + 1]++;
        if (starts.includes(length))
            continue; // All equal.
        for (let bucket = 1; bucket <= BUCKETS; bucket++)
            starts[bucket] += starts[bucket - 1];
        for (let i = 0; i < length; i++)
            to[starts[words[4 * from[i] + word]]++] = from[i];
        [from, to] = [to, from];
    }
    return from;
}

/* Return ROWS sorted by value(row), numbers or texts. Stable. */
export function inOrder(rows, value, descending) {
    const values = Array.from(rows, value);
    if (values.length > 1000 && values.every((v) => typeof v === 'number'))
        return Array.from(orderOfNumbers(values, descending), (place) => rows[place]);
    const turn = descending ? -1 : 1;
    return Array.from(values.keys())
        .sort((a, b) => (values[a] < values[b] ? -turn : values[a] > values[b] ? turn : a - b))
        .map((place) => rows[place]);
}
