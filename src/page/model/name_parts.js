/* name_parts.js: the parts of a function's name: return type, namespaces, the own name. */

const OPERATOR = /^operator(\(\)|<=>|<<=|>>=|->\*|<<|>>|->|<=|>=|<|>| [^(]*)/;
const LAMBDA = /^(\{lambda|\{unnamed|\{?\{closure)/;
const HASH = /^h[0-9a-f]{16}$/; // The end of a Rust name.
const BLANK_OF_TYPE = /^[^([< ][^ ]*[(<]/;

/* Return the places in NAME at which a shorter name can begin: after the return type, then after
 * each namespace or class, up to the function's own name. A lambda's name begins with the function
 * around it, because "operator()" alone would say nothing. Brackets in names of operators, and in
 * "(anonymous namespace)", do not matter: only text outside of brackets is searched. */
export function startsOf(name) {
    const places = [];
    let depth = 0, isInner = false; // isInner: behind a lambda, which is part of the name before.
    for (let i = 0; i < name.length; i++) {
        const operator = name[i] === 'o' && depth === 0 && OPERATOR.exec(name.slice(i));
        if (operator && !/\w/.test(name[i - 1] ?? ''))
            i += operator[0].length;
        if ('<([{'.includes(name[i]))
            depth++;
        else if ('>)]}'.includes(name[i]) && name[i - 1] !== '-')
            depth--;
        else if (depth === 0 && name.startsWith('::', i) && i > 0) {
            const rest = name.slice(i + 2);
            isInner = LAMBDA.test(rest) || (isInner && /^operator\(\)/.test(rest))
                || HASH.test(rest);
            if (!isInner)
                places.push(i + 2);
            i++;
        } else if (depth === 0 && name[i] === ' ' && isReturnType(name, i)) {
            places.length = 0; // The places before are in the return type.
            places.push(i + 1);
        }
    }
    return depth === 0 ? places : [];
}

/* Return true if the blank at I of NAME follows a return type: before a name with parameters or
 * template arguments. */
function isReturnType(name, i) {
    return name[i - 1] !== ')' && BLANK_OF_TYPE.test(name.slice(i + 1));
}

const STANDARD = /^<?(std|__gnu_cxx|__cxxabiv1)::/, RUST = /^<?(std|core|alloc)::/;
const CXX_HEADER = /\/include\/(.*\/)?c\+\+\//;
const RUST_SOURCE = /\/library\/(std|core|alloc)\/src\//;

/**
 * Return true if a function with NAME, defined in the source FILE ('' if unknown), belongs to the
 * standard library of C++ or Rust. Templates are in modules of the user, but are not user code.
 */
export function isStandard(name, file) {
    if (CXX_HEADER.test(file) || RUST_SOURCE.test(file))
        return true;
    if (!name.includes('::'))
        return false;
    const [begin] = startsOf(name), isType = begin !== undefined && name[begin - 1] === ' ';

    return STANDARD.test(isType ? name.slice(begin) : name)
        || (name.startsWith('<') && RUST.test(name));
}
