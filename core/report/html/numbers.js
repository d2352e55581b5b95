// Numbers as text. The record writes "nan", "inf" and "-inf" for what JSON lacks.

const NOT_FINITE = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** A number of the record, NaN and infinities included; null for anything else. */
function numeric(value) {
  if (typeof value === "number") return value;
  return typeof value === "string" && value in NOT_FINITE ? NOT_FINITE[value] : null;
}

function grouped(integer) {
  return Math.round(integer).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "0.00485", "20,480", "9.86e-7", "inf" */
function numberText(value, digits = 3) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value < 0 ? `-${grouped(-value)}` : grouped(value);
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) {
    const text = String(Number(value.toPrecision(digits)));
    // 0.9999954 is not 1.
    return /^-?[01]$/.test(text) ? numberText(value, digits + 1) : text;
  }
  return value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
}

/** Any value of the record: a parameter, an element of a tensor. */
function valueText(value, digits = 6) {
  const number = numeric(value);
  if (number !== null) return numberText(number, digits);
  if (value === null || value === undefined) return "–";
  return visible(typeof value === "string" ? value : JSON.stringify(value));
}

function secondsText(seconds) {
  const s = numeric(seconds) ?? 0;
  if (s >= 100) return `${grouped(s)} s`;
  if (s >= 0.01) return `${s.toFixed(2)} s`;
  return s > 0 ? `${numberText(s * 1000, 2)} ms` : "0 s";
}

function memoryText(bytes) {
  const mib = bytes / 2 ** 20;
  return mib >= 10240 ? `${(mib / 1024).toFixed(1)} GiB` : `${grouped(mib)} MiB`;
}

function plural(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}
