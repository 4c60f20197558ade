/* address.js: numbers that an address says, checked before they are used. */

/** A whole number in TEXT from 0 to below LIMIT, or null. */
export function indexIn(text, limit) {
    const number = /^\d{1,9}$/.test(text || '') ? Number(text) : -1;
    return number >= 0 && number < limit ? number : null;
}
