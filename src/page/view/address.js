/* address.js: check the numbers of an address before they are used. */

/** Return the whole number in TEXT, if it is at least 0 and below LIMIT; otherwise null. */
export function indexIn(text, limit) {
    const number = /^\d{1,9}$/.test(text || '') ? Number(text) : -1;
    return number >= 0 && number < limit ? number : null;
}
