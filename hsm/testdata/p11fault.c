/* p11fault.so: wraps $P11FAULT_REAL and injects faults described in the file $P11FAULT_CTL.
 * One rule a line:  <func> <skip> <times> <action> <value>
 * skip: calls to let pass first; times: how often to fire (0 = for ever). A number is decimal, or hex after 0x.
 *
 *   any function         rv=return code instead of calling | after=call, then this return code | delay=ms, then call
 *                        | hang | exit=abort | leave=exit with this status | segv | kill | print=its name
 *                        | missing=not in the function list (any value)
 *                        | gone=from this call on every function gives this return code, until the file is rewritten
 *   constructor          hang, exit, leave, print, segv, kill, delay: while the library is loaded, which is noted in the log only then
 *   C_GetFunctionList    rv | null=CKR_OK and no list | version=major version of the list
 *   C_GetInfo, C_GetSlotInfo, C_GetTokenInfo
 *                        nulpad=texts are padded with NULs
 *   C_GetInfo            maker=manufacturerID
 *   C_GetTokenInfo       flags=OR into CK_TOKEN_INFO.flags | noflags=take out of them | maxrw=n
 *   C_GetSlotList, C_FindObjects   length=how many there are said to be, once they are written
 *   C_OpenSession        norw=refuse read-write sessions
 *   C_Login              pinpad=act as one and use this PIN
 *   C_GetAttributeValue  noattr=this attribute is not there | attr=<type>=<hex>, its value on every object that has it,
 *                        also where it is sensitive
 *                        | ecpoint=raw, octet, bit or spki: how CKA_EC_POINT is given | swap=CKA_EC_POINT of another
 *                        public key | length=how long the value is said to be, once it is written
 *   C_SignInit           swap=sign with another private key | alwaysauth=PIN: the keys have CKA_ALWAYS_AUTHENTICATE, and
 *                        each C_Sign wants a login of CKU_CONTEXT_SPECIFIC with this PIN straight after C_SignInit
 *   C_Sign               flip=a bit of the signature's byte n | short=signature length | other=sign another digest
 *
 * Each call appends the function's name as a line to the file $P11FAULT_LOG. After it C_OpenSession appends
 * "C_OpenSession:rw" where that was asked, C_Login "C_Login:so", "C_Login:user" or "C_Login:context", and
 * "C_Login:null" for a NULL PIN, and C_GetAttributeValue "C_GetAttributeValue:value" where CKA_VALUE itself was asked for, not its
 * length alone. No PIN is written anywhere. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "pkcs11go.h"
static CK_FUNCTION_LIST_PTR real;
static CK_FUNCTION_LIST fl;
enum { RULES = 256, TEXT = 512 };
static unsigned long count[RULES];
static struct stat seen; /* a rewritten control file starts its counts anew */
static unsigned long gone; /* the return code of a token that was removed */
static int armed; /* of alwaysauth: 1 after C_SignInit, 2 after the login that belongs to it */

static int rewritten(const struct stat *st)
{
	return st->st_mtim.tv_sec != seen.st_mtim.tv_sec || st->st_mtim.tv_nsec != seen.st_mtim.tv_nsec ||
	       st->st_size != seen.st_size || st->st_ino != seen.st_ino;
}
/* fault_text looks for a rule of fn and act that fires now, and gives its value. Where of is not NULL, only values that
 * begin with this number (and end there, or go on with '=') are looked at and counted. */
static int fault_text(const char *fn, const char *act, const unsigned long *of, char value[TEXT])
{
	char name[64], a[32], v[TEXT], line[TEXT + 128], *end;
	long skip, times;
	int hit = 0, ln = 0;
	const char *p = getenv("P11FAULT_CTL");
	FILE *f = p ? fopen(p, "r") : NULL;
	struct stat st;
	if (!f)
		return 0;
	if (!fstat(fileno(f), &st) && rewritten(&st)) {
		seen = st;
		gone = 0;
		memset(count, 0, sizeof count);
	}
	while (!hit && fgets(line, sizeof line, f) && ln < RULES) {
		ln++;
		if (sscanf(line, "%63s %ld %ld %31s %511s", name, &skip, &times, a, v) != 5 || strcmp(name, fn) || strcmp(a, act))
			continue;
		if (of && (strtoul(v, &end, 0) != *of || (*end && *end != '=')))
			continue;
		unsigned long n = __sync_fetch_and_add(&count[ln - 1], 1);
		hit = n >= (unsigned long)skip && (times == 0 || n < (unsigned long)(skip + times));
	}
	fclose(f);
	if (hit)
		strcpy(value, v);
	return hit;
}
static int fault(const char *fn, const char *act, unsigned long *val)
{
	char v[TEXT];
	if (!fault_text(fn, act, NULL, v))
		return 0;
	*val = strtoul(v, NULL, 0);
	return 1;
}
static void record(const char *fn)
{
	const char *p = getenv("P11FAULT_LOG");
	FILE *f = p && *p ? fopen(p, "a") : NULL;
	if (!f)
		return;
	fprintf(f, "%s\n", fn);
	fclose(f);
}
static int pre(const char *fn, CK_RV *rv)
{
	unsigned long v;
	record(fn);
	if (fault(fn, "delay", &v))
		usleep(v * 1000);
	if (fault(fn, "hang", &v))
		for (;;)
			pause();
	if (fault(fn, "exit", &v))
		abort();
	if (fault(fn, "leave", &v))
		exit(v);
	if (fault(fn, "print", &v)) {
		printf("%s\n", fn);
		fflush(stdout);
	}
	if (fault(fn, "segv", &v))
		*(volatile int *)16 = 1;
	if (fault(fn, "kill", &v))
		kill(getpid(), SIGKILL);
	if (fault(fn, "gone", &v))
		gone = v;
	if (gone || fault(fn, "rv", &v)) {
		*rv = gone ? gone : v;
		return 1;
	}
	return 0;
}
static CK_RV after(const char *fn, CK_RV rv)
{
	unsigned long v;
	return fault(fn, "after", &v) ? v : rv;
}
#define W(name, args, call) static CK_RV my_##name args { CK_RV rv; if (pre(#name, &rv)) return rv; return after(#name, real->name call); }
W(C_Initialize, (CK_VOID_PTR a), (a))
W(C_Finalize, (CK_VOID_PTR a), (a))
static CK_RV my_C_GetSlotList(CK_BBOOL t, CK_SLOT_ID_PTR l, CK_ULONG_PTR n)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_GetSlotList", &rv))
		return rv;
	rv = after("C_GetSlotList", real->C_GetSlotList(t, l, n));
	if (fault("C_GetSlotList", "length", &v))
		*n = v;
	return rv;
}
W(C_GetMechanismList, (CK_SLOT_ID s, CK_MECHANISM_TYPE_PTR l, CK_ULONG_PTR n), (s, l, n))
W(C_GetMechanismInfo, (CK_SLOT_ID s, CK_MECHANISM_TYPE m, CK_MECHANISM_INFO_PTR i), (s, m, i))
W(C_InitToken, (CK_SLOT_ID s, CK_UTF8CHAR_PTR p, CK_ULONG n, CK_UTF8CHAR_PTR l), (s, p, n, l))
W(C_InitPIN, (CK_SESSION_HANDLE h, CK_UTF8CHAR_PTR p, CK_ULONG n), (h, p, n))
W(C_SetPIN, (CK_SESSION_HANDLE h, CK_UTF8CHAR_PTR o, CK_ULONG m, CK_UTF8CHAR_PTR p, CK_ULONG n), (h, o, m, p, n))
W(C_CloseSession, (CK_SESSION_HANDLE h), (h))
W(C_CloseAllSessions, (CK_SLOT_ID s), (s))
W(C_GetSessionInfo, (CK_SESSION_HANDLE h, CK_SESSION_INFO_PTR i), (h, i))
W(C_Logout, (CK_SESSION_HANDLE h), (h))
W(C_CreateObject, (CK_SESSION_HANDLE h, CK_ATTRIBUTE_PTR t, CK_ULONG n, CK_OBJECT_HANDLE_PTR o), (h, t, n, o))
W(C_DestroyObject, (CK_SESSION_HANDLE h, CK_OBJECT_HANDLE o), (h, o))
W(C_SetAttributeValue, (CK_SESSION_HANDLE h, CK_OBJECT_HANDLE o, CK_ATTRIBUTE_PTR t, CK_ULONG n), (h, o, t, n))
W(C_FindObjectsInit, (CK_SESSION_HANDLE h, CK_ATTRIBUTE_PTR t, CK_ULONG n), (h, t, n))
static CK_RV my_C_FindObjects(CK_SESSION_HANDLE h, CK_OBJECT_HANDLE_PTR o, CK_ULONG m, CK_ULONG_PTR n)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_FindObjects", &rv))
		return rv;
	rv = after("C_FindObjects", real->C_FindObjects(h, o, m, n));
	if (fault("C_FindObjects", "length", &v))
		*n = v;
	return rv;
}
W(C_FindObjectsFinal, (CK_SESSION_HANDLE h), (h))
W(C_GenerateKeyPair,
  (CK_SESSION_HANDLE h, CK_MECHANISM_PTR m, CK_ATTRIBUTE_PTR u, CK_ULONG un, CK_ATTRIBUTE_PTR v, CK_ULONG vn, CK_OBJECT_HANDLE_PTR a,
   CK_OBJECT_HANDLE_PTR b),
  (h, m, u, un, v, vn, a, b))

static CK_RV my_C_OpenSession(CK_SLOT_ID s, CK_FLAGS f, CK_VOID_PTR a, CK_NOTIFY n, CK_SESSION_HANDLE_PTR h)
{
	CK_RV rv;
	unsigned long v;
	int refused = pre("C_OpenSession", &rv);
	if (f & CKF_RW_SESSION)
		record("C_OpenSession:rw");
	if (refused)
		return rv;
	if (f & CKF_RW_SESSION && fault("C_OpenSession", "norw", &v))
		return CKR_TOKEN_WRITE_PROTECTED;
	return after("C_OpenSession", real->C_OpenSession(s, f, a, n, h));
}
static CK_RV context_login(const char *wanted, CK_UTF8CHAR_PTR p, CK_ULONG n)
{
	if (armed != 1)
		return CKR_OPERATION_NOT_INITIALIZED;
	if (!p || n != strlen(wanted) || memcmp(p, wanted, n))
		return CKR_PIN_INCORRECT;
	armed = 2;
	return CKR_OK;
}
static CK_RV my_C_Login(CK_SESSION_HANDLE h, CK_USER_TYPE u, CK_UTF8CHAR_PTR p, CK_ULONG n)
{
	CK_RV rv;
	static char pad[TEXT];
	char pin[TEXT];
	int refused = pre("C_Login", &rv);
	record(u == CKU_SO ? "C_Login:so" : u == CKU_USER ? "C_Login:user" : "C_Login:context");
	if (!p)
		record("C_Login:null");
	if (refused)
		return rv;
	if (fault_text("C_Login", "pinpad", NULL, pad)) { /* NULL in, the PIN of the rule used */
		if (p || n)
			return CKR_ARGUMENTS_BAD;
		p = (CK_UTF8CHAR_PTR)pad;
		n = strlen(pad);
	}
	if (u == CKU_CONTEXT_SPECIFIC && fault_text("C_SignInit", "alwaysauth", NULL, pin))
		return after("C_Login", context_login(pin, p, n));
	return after("C_Login", real->C_Login(h, u, p, n));
}
/* other gives another key of o's class, or o where there is none. */
static CK_OBJECT_HANDLE other(CK_SESSION_HANDLE h, CK_OBJECT_HANDLE o)
{
	CK_OBJECT_CLASS class = 0;
	CK_KEY_TYPE type = CKK_EC;
	CK_ATTRIBUTE wanted[] = { { CKA_CLASS, &class, sizeof class }, { CKA_KEY_TYPE, &type, sizeof type } };
	CK_OBJECT_HANDLE found[64];
	CK_ULONG n = 0;
	if (real->C_GetAttributeValue(h, o, wanted, 1) != CKR_OK || real->C_FindObjectsInit(h, wanted, 2) != CKR_OK)
		return o;
	if (real->C_FindObjects(h, found, 64, &n) != CKR_OK)
		n = 0;
	real->C_FindObjectsFinal(h);
	while (n > 0)
		if (found[--n] != o)
			return found[n];
	return o;
}
/* put answers for one attribute as C_GetAttributeValue does: the length alone, or the value where it fits. */
static CK_RV put(CK_ATTRIBUTE_PTR a, const void *value, CK_ULONG n)
{
	CK_ULONG room = a->ulValueLen;
	a->ulValueLen = n;
	if (!a->pValue)
		return CKR_OK;
	if (room < n) {
		a->ulValueLen = (CK_ULONG)-1;
		return CKR_BUFFER_TOO_SMALL;
	}
	memcpy(a->pValue, value, n);
	return CKR_OK;
}
/* encode gives the last 65 bytes of point, an uncompressed one of P-256, in another form. */
static CK_ULONG encode(const char *form, unsigned char *point, CK_ULONG n)
{
	static const unsigned char octet[] = { 0x04, 0x41 }, bit[] = { 0x03, 0x42, 0x00 },
		spki[] = { 0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
			   0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00 };
	const unsigned char *head = NULL;
	CK_ULONG length = 0;
	if (n < 65)
		return n;
	if (!strcmp(form, "octet"))
		head = octet, length = sizeof octet;
	else if (!strcmp(form, "bit"))
		head = bit, length = sizeof bit;
	else if (!strcmp(form, "spki"))
		head = spki, length = sizeof spki;
	else if (strcmp(form, "raw"))
		abort();
	memmove(point + length, point + n - 65, 65);
	if (head)
		memcpy(point, head, length);
	return length + 65;
}
static CK_ULONG unhex(const char *hex, unsigned char *out)
{
	CK_ULONG n = 0;
	while (sscanf(hex + 2 * n, "%2hhx", out + n) == 1)
		n++;
	return n;
}
static CK_RV ec_point(CK_SESSION_HANDLE h, CK_OBJECT_HANDLE o, CK_ATTRIBUTE_PTR a)
{
	unsigned long v;
	char form[TEXT];
	unsigned char point[TEXT];
	CK_ATTRIBUTE own = { CKA_EC_POINT, point, sizeof point / 2 };
	CK_OBJECT_HANDLE from = fault("C_GetAttributeValue", "swap", &v) ? other(h, o) : o;
	CK_RV rv = real->C_GetAttributeValue(h, from, &own, 1);
	if (rv != CKR_OK) {
		a->ulValueLen = (CK_ULONG)-1;
		return rv;
	}
	if (fault_text("C_GetAttributeValue", "ecpoint", NULL, form))
		own.ulValueLen = encode(form, point, own.ulValueLen);
	return put(a, point, own.ulValueLen);
}
/* attribute answers for one attribute: a module fails a whole call for one that it does not have. */
static CK_RV attribute(CK_SESSION_HANDLE h, CK_OBJECT_HANDLE o, CK_ATTRIBUTE_PTR a)
{
	char v[TEXT];
	unsigned char value[TEXT / 2];
	unsigned long type = a->type;
	if (type == CKA_VALUE && a->pValue)
		record("C_GetAttributeValue:value");
	if (fault_text("C_GetAttributeValue", "noattr", &type, v)) {
		a->ulValueLen = (CK_ULONG)-1;
		return CKR_ATTRIBUTE_TYPE_INVALID;
	}
	if (fault_text("C_GetAttributeValue", "attr", &type, v)) {
		CK_ATTRIBUTE had = { a->type, NULL, 0 };
		CK_RV rv = real->C_GetAttributeValue(h, o, &had, 1);
		if (rv == CKR_OK || rv == CKR_ATTRIBUTE_SENSITIVE)
			return put(a, value, unhex(strchr(v, '=') + 1, value));
		a->ulValueLen = (CK_ULONG)-1;
		return rv;
	}
	if (type == CKA_ALWAYS_AUTHENTICATE && fault_text("C_SignInit", "alwaysauth", NULL, v))
		return put(a, "\1", 1);
	if (type == CKA_EC_POINT)
		return ec_point(h, o, a);
	return real->C_GetAttributeValue(h, o, a, 1);
}
static CK_RV my_C_GetAttributeValue(CK_SESSION_HANDLE h, CK_OBJECT_HANDLE o, CK_ATTRIBUTE_PTR t, CK_ULONG n)
{
	CK_RV rv, all = CKR_OK;
	if (pre("C_GetAttributeValue", &rv))
		return rv;
	for (CK_ULONG i = 0; i < n; i++)
		if ((rv = attribute(h, o, t + i)) != CKR_OK)
			all = rv;
	unsigned long v;
	if (t->pValue && fault("C_GetAttributeValue", "length", &v))
		t->ulValueLen = v;
	return after("C_GetAttributeValue", all);
}
static CK_RV my_C_SignInit(CK_SESSION_HANDLE h, CK_MECHANISM_PTR m, CK_OBJECT_HANDLE k)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_SignInit", &rv))
		return rv;
	if (fault("C_SignInit", "swap", &v))
		k = other(h, k);
	armed = 1;
	return after("C_SignInit", real->C_SignInit(h, m, k));
}
static void nulpad(unsigned char *text, size_t n)
{
	while (n > 0 && text[n - 1] == ' ')
		text[--n] = 0;
}
static CK_RV my_C_GetInfo(CK_INFO_PTR i)
{
	CK_RV rv;
	unsigned long v;
	char maker[TEXT];
	if (pre("C_GetInfo", &rv))
		return rv;
	rv = real->C_GetInfo(i);
	if (rv == CKR_OK && fault_text("C_GetInfo", "maker", NULL, maker)) {
		memset(i->manufacturerID, ' ', sizeof i->manufacturerID);
		memcpy(i->manufacturerID, maker, strnlen(maker, sizeof i->manufacturerID));
	}
	if (rv == CKR_OK && fault("C_GetInfo", "nulpad", &v)) {
		nulpad(i->manufacturerID, sizeof i->manufacturerID);
		nulpad(i->libraryDescription, sizeof i->libraryDescription);
	}
	return after("C_GetInfo", rv);
}
static CK_RV my_C_GetSlotInfo(CK_SLOT_ID s, CK_SLOT_INFO_PTR i)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_GetSlotInfo", &rv))
		return rv;
	rv = real->C_GetSlotInfo(s, i);
	if (rv == CKR_OK && fault("C_GetSlotInfo", "nulpad", &v)) {
		nulpad(i->slotDescription, sizeof i->slotDescription);
		nulpad(i->manufacturerID, sizeof i->manufacturerID);
	}
	return after("C_GetSlotInfo", rv);
}
static CK_RV my_C_GetTokenInfo(CK_SLOT_ID s, CK_TOKEN_INFO_PTR i)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_GetTokenInfo", &rv))
		return rv;
	rv = real->C_GetTokenInfo(s, i);
	if (rv == CKR_OK && fault("C_GetTokenInfo", "flags", &v))
		i->flags |= v;
	if (rv == CKR_OK && fault("C_GetTokenInfo", "noflags", &v))
		i->flags &= ~v;
	if (rv == CKR_OK && fault("C_GetTokenInfo", "maxrw", &v))
		i->ulMaxRwSessionCount = v;
	if (rv == CKR_OK && fault("C_GetTokenInfo", "nulpad", &v)) {
		nulpad(i->label, sizeof i->label);
		nulpad(i->manufacturerID, sizeof i->manufacturerID);
		nulpad(i->model, sizeof i->model);
		nulpad(i->serialNumber, sizeof i->serialNumber);
	}
	return after("C_GetTokenInfo", rv);
}
static CK_RV my_C_Sign(CK_SESSION_HANDLE h, CK_BYTE_PTR d, CK_ULONG dl, CK_BYTE_PTR s, CK_ULONG_PTR sl)
{
	CK_RV rv;
	unsigned long v;
	char pin[TEXT];
	unsigned char digest[TEXT];
	if (!s) /* the length query is not counted */
		return real->C_Sign(h, d, dl, s, sl);
	if (pre("C_Sign", &rv))
		return rv;
	if (armed != 2 && fault_text("C_SignInit", "alwaysauth", NULL, pin))
		return CKR_USER_NOT_LOGGED_IN;
	armed = 0;
	if (dl && dl <= sizeof digest && fault("C_Sign", "other", &v)) {
		memcpy(digest, d, dl);
		digest[0] ^= 1;
		d = digest;
	}
	rv = real->C_Sign(h, d, dl, s, sl);
	if (rv == CKR_OK && fault("C_Sign", "flip", &v))
		s[v % *sl] ^= 1;
	if (rv == CKR_OK && fault("C_Sign", "short", &v))
		*sl = v;
	return after("C_Sign", rv);
}
static CK_RV load(void)
{
	const char *p = getenv("P11FAULT_REAL");
	void *h = dlopen(p ? p : "/usr/lib/softhsm/libsofthsm2.so", RTLD_NOW | RTLD_LOCAL);
	CK_C_GetFunctionList get = h ? (CK_C_GetFunctionList)dlsym(h, "C_GetFunctionList") : NULL;
	return get ? get(&real) : CKR_GENERAL_ERROR;
}
static void __attribute__((constructor)) constructor(void)
{
	static const char *const acts[] = { "delay", "hang", "exit", "leave", "print", "segv", "kill" };
	CK_RV rv;
	unsigned long v;
	for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
		if (fault("constructor", acts[i], &v)) {
			memset(count, 0, sizeof count);
			pre("constructor", &rv);
			return;
		}
}
CK_RV C_GetFunctionList(CK_FUNCTION_LIST_PTR_PTR out)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_GetFunctionList", &rv) && rv != gone)
		return rv;
	*out = NULL;
	if (fault("C_GetFunctionList", "null", &v))
		return CKR_OK;
	if (!real && (rv = load()) != CKR_OK) {
		real = NULL;
		return rv;
	}
	fl = *real;
	fl.C_GetFunctionList = C_GetFunctionList;
	if (fault("C_GetFunctionList", "version", &v))
		fl.version.major = v;
#define O(n) fl.n = fault(#n, "missing", &v) ? NULL : my_##n;
	O(C_Initialize) O(C_Finalize) O(C_GetInfo) O(C_GetSlotList) O(C_GetSlotInfo) O(C_GetTokenInfo) O(C_GetMechanismList)
	O(C_GetMechanismInfo) O(C_InitToken) O(C_InitPIN) O(C_SetPIN) O(C_OpenSession) O(C_CloseSession) O(C_CloseAllSessions)
	O(C_GetSessionInfo) O(C_Login) O(C_Logout) O(C_CreateObject) O(C_DestroyObject) O(C_SetAttributeValue) O(C_FindObjectsInit)
	O(C_FindObjects) O(C_FindObjectsFinal) O(C_GetAttributeValue) O(C_GenerateKeyPair) O(C_SignInit) O(C_Sign)
	*out = &fl;
	return CKR_OK;
}
