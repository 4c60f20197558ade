/* pair_map.js: dense numbers for pairs of integers.
 *
 * Everything in the model has a number. A stack's number is made from the numbers of its caller and
 * its frame, and a tree node's from the numbers of its parent and its function. One kind of table
 * serves all: it assigns the next free number to a new pair (a, b), and returns the same number for
 * the same pair later.
 *
 * The table uses open addressing in one typed array. Half a million pairs take 40 ms and 8 MB; in a
 * Map of strings or of 64-bit numbers they take a second and 100 MB. Pairs are never removed.
 */

export class PairMap {
    /** @param {number} [expected] expected number of pairs; more pairs cost a rehash */
    constructor(expected = 16) {
        let capacity = 32;

        while (capacity < expected * 2)
            capacity *= 2;
        this.slots = new Int32Array(capacity); // Number plus 1; 0 = free.
        this.a = new Int32Array(capacity >> 1);
        this.b = new Int32Array(capacity >> 1);
        this.count = 0;
    }

    /**
     * Return the number of the pair; the next free number if the pair is new, which increments
     * `count`.
     * @param {number} a 32 bits
     * @param {number} b 32 bits
     * @returns {number}
     */
    put(a, b) {
        const mask = this.slots.length - 1;
        let i = hash(a, b) & mask;

        for (let found = this.slots[i]; found !== 0; found = this.slots[i]) {
            if (this.a[found - 1] === a && this.b[found - 1] === b)
                return found - 1;
            i = (i + 1) & mask;
        }
        if (this.count === this.a.length) {
            this.grow();
            return this.put(a, b);
        }
        this.a[this.count] = a;
        this.b[this.count] = b;
        this.slots[i] = ++this.count;
        return this.count - 1;
    }

    /** Return the number of the pair, or -1. */
    get(a, b) {
        const mask = this.slots.length - 1;
        let i = hash(a, b) & mask;

        for (let found = this.slots[i]; found !== 0; found = this.slots[i]) {
            if (this.a[found - 1] === a && this.b[found - 1] === b)
                return found - 1;
            i = (i + 1) & mask;
        }
        return -1;
    }

    /** Return the first numbers of all pairs, by pair. */
    firsts() {
        return this.a.slice(0, this.count);
    }

    /** Return the second numbers of all pairs, by pair. */
    seconds() {
        return this.b.slice(0, this.count);
    }

    /** @private */
    grow() {
        const capacity = this.slots.length * 2, mask = capacity - 1;

        this.a = enlarged(this.a, capacity >> 1);
        this.b = enlarged(this.b, capacity >> 1);
        this.slots = new Int32Array(capacity);
        for (let k = 0; k < this.count; k++) {
            let i = hash(this.a[k], this.b[k]) & mask;

            while (this.slots[i] !== 0)
                i = (i + 1) & mask;
            this.slots[i] = k + 1;
        }
    }
}

function hash(a, b) {
    let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b + 0x7f4a7c15, 0x85ebca77);

    h ^= h >>> 15;
    h = Math.imul(h, 0x2c1b3c6d);
    return h ^ (h >>> 13);
}

function enlarged(old, length) {
    const fresh = new Int32Array(length);

    fresh.set(old);
    return fresh;
}
