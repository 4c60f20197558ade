/* address.js: check the numbers of an address before they are used. */

/** A whole number in TEXT from 0 to below LIMIT, or null. */
export function indexIn(text, limit) {
    const number = /^\d{1,9}$/.test(text || '') ? Number(text) : -1;
    return number >= 0 && number < limit ? number : null;
}
