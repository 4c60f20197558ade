/* kv_server.cc: a typical C++ server, for the bench: strings, maps and vectors for each request, a
 * store shared by threads, persistent connections.
 *
 *     kv_server listen SOCKET THREADS     until its input ends
 *     kv_server replay FILE TIMES         the requests of FILE by one thread, and no socket
 *
 * A request looks like HTTP: a line "POST /VERB/KEY HTTP/1.1", headers, and a body of NAME=WORDS
 * joined by "&". The verbs are: "set" stores the body's values under the key, "get" returns them,
 * "list" returns their words sorted, "join" returns them together with the values of the next key.
 * Each answer has a Content-Length. Requests of one connection are answered in order, so a client
 * need not wait for an answer before it sends the next request.
 *
 * Each thread polls its own connections, so the number of threads is fixed. If another thread sets
 * a key again, it frees the old values. The size of the store is constant, as in a cache. At the
 * end, the server prints "requests N", "cpu_ns N", the processor time of the whole process, and
 * "sum N", which is the same for the same requests. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr size_t shard_count = 16, keys_in_shard = 400;

struct request {
    std::string verb, key;
    std::map<std::string, std::string> headers;
    std::unordered_map<std::string, std::string> values;
};

struct record {
    std::map<std::string, std::vector<std::string>> fields;
    uint64_t age = 0;
};

struct shard {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<record>> records;
};

struct connection {
    int fd = -1;
    std::string received, to_send;
    bool waits_to_write = false;
};

shard shards[shard_count];
std::atomic<uint64_t> request_count, sum_of_lengths, clock_of_ages;

[[noreturn]] void
fail(const char *what)
{
    fprintf(stderr, "kv_server: %s: %s\n", what, strerror(errno));
    exit(2);
}

std::vector<std::string>
split(const std::string &text, char by)
{
    std::vector<std::string> words;
    size_t at = 0, end;

    while ((end = text.find(by, at)) != std::string::npos) {
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    words.push_back(text.substr(at));
    return words;
}

// Parse the first request in TEXT from AT on. Return its end; 0 if it is incomplete.
size_t
parse(const std::string &text, size_t at, request &ret_request)
{
    size_t head_end = text.find("\r\n\r\n", at), line_end = text.find("\r\n", at), length;

    if (head_end == std::string::npos)
        return 0;
    for (size_t from = line_end + 2; from < head_end;) {
        size_t end = text.find("\r\n", from), colon = text.find(": ", from);

        if (colon < end)
            ret_request.headers[text.substr(from, colon - from)] =
                text.substr(colon + 2, end - colon - 2);
        from = end + 2;
    }
    length = strtoul(ret_request.headers["Content-Length"].c_str(), nullptr, 10);
    if (text.size() - head_end - 4 < length)
        return 0;
    std::vector<std::string> path = split(text.substr(at, line_end - at), '/');
    if (path.size() > 2) {
        ret_request.verb = path[1];
        ret_request.key = path[2].substr(0, path[2].find(' '));
    }
    for (const std::string &pair : split(text.substr(head_end + 4, length), '&')) {
        size_t equals = pair.find('=');

        if (equals != std::string::npos)
            ret_request.values[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
    return head_end + 4 + length;
}

shard &
shard_of(const std::string &key)
{
    return shards[std::hash<std::string>{}(key) % shard_count];
}

std::shared_ptr<record>
find(const std::string &key)
{
    shard &s = shard_of(key);
    std::lock_guard<std::mutex> held(s.mutex);
    auto found = s.records.find(key);

    return found == s.records.end() ? nullptr : found->second;
}

void
store(const request &r)
{
    auto made = std::make_shared<record>();
    shard &s = shard_of(r.key);

    made->age = clock_of_ages++;
    for (const auto &[name, words] : r.values)
        made->fields[name] = split(words, ' ');
    std::lock_guard<std::mutex> held(s.mutex);
    if (s.records.size() >= keys_in_shard && !s.records.count(r.key))
        s.records.erase(s.records.begin());
    s.records[r.key] = made;
}

std::string
sorted_words(const record &from)
{
    std::vector<std::string> all;
    std::string text;

    for (const auto &[name, words] : from.fields)
        for (const std::string &word : words)
            all.push_back(name + "." + word);
    std::sort(all.begin(), all.end());
    for (const std::string &word : all)
        text += word + "\n";
    return text;
}

std::string
all_fields(const std::string &key)
{
    std::shared_ptr<record> found = find(key);
    std::string text;

    if (!found)
        return "nothing\n";
    for (const auto &[name, words] : found->fields) {
        text += name + ":";
        for (const std::string &word : words)
            text += " " + word;
        text += "\n";
    }
    return text;
}

std::string
answer(const request &r)
{
    std::string body = "ok\n";

    if (r.verb == "set")
        store(r);
    else if (r.verb == "list") {
        std::shared_ptr<record> found = find(r.key);

        body = found ? sorted_words(*found) : "nothing\n";
    } else
        body = all_fields(r.key) + (r.verb == "join" ? all_fields(r.key + "0") : "");
    request_count++;
    // The sum covers requests only, because the result of a "get" depends on the order of threads.
    sum_of_lengths += r.verb.size() + r.key.size() + r.headers.size() + r.values.size();
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Answer each request that has arrived completely.
void
answer_all(connection &c)
{
    size_t at = 0;

    for (;;) {
        request r;
        size_t end = parse(c.received, at, r);

        if (end == 0)
            break;
        c.to_send += answer(r);
        at = end;
    }
    c.received.erase(0, at);
}

// Serve C once. Return false at the end of the connection.
bool
serve(int epoll, connection &c)
{
    char buffer[16384];
    ssize_t n;

    while ((n = read(c.fd, buffer, sizeof buffer)) > 0)
        c.received.append(buffer, (size_t)n);
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        return false;
    answer_all(c);
    while (!c.to_send.empty() && (n = write(c.fd, c.to_send.data(), c.to_send.size())) > 0)
        c.to_send.erase(0, (size_t)n);
    if (c.waits_to_write != !c.to_send.empty()) {
        struct epoll_event e = {};

        c.waits_to_write = !c.to_send.empty();
        e.events = EPOLLIN | (c.waits_to_write ? (unsigned)EPOLLOUT : 0u);
        e.data.ptr = &c;
        epoll_ctl(epoll, EPOLL_CTL_MOD, c.fd, &e);
    }
    return true;
}

void
worker(int epoll)
{
    struct epoll_event events[16];

    for (;;) {
        int n = epoll_wait(epoll, events, 16, -1);

        for (int i = 0; i < n; i++) {
            auto *c = static_cast<connection *>(events[i].data.ptr);

            if (!c)
                return;
            if (!serve(epoll, *c)) {
                close(c->fd);
                delete c;
            }
        }
    }
}

int
listen_at(const char *path)
{
    struct sockaddr_un address = {};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        fail(path);
    }
    strcpy(address.sun_path, path);
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 256))
        fail(path);
    return fd;
}

void
add(int epoll, int fd, connection *c)
{
    struct epoll_event e = {};

    e.events = EPOLLIN;
    e.data.ptr = c;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
        fail("epoll_ctl");
}

// Accept connections until the input ends; then pass a null pointer to each thread.
void
listen_and_serve(const char *path, unsigned thread_count)
{
    int listener = listen_at(path), watch = epoll_create1(EPOLL_CLOEXEC), ended[2];
    std::vector<int> epolls;
    std::vector<std::thread> threads;
    connection *const from_listener = reinterpret_cast<connection *>(&listener);
    struct epoll_event e;

    if (pipe(ended))
        fail("pipe");
    for (unsigned i = 0; i < thread_count; i++) {
        epolls.push_back(epoll_create1(EPOLL_CLOEXEC));
        add(epolls[i], ended[0], nullptr);
        threads.emplace_back(worker, epolls[i]);
    }
    add(watch, listener, from_listener);
    add(watch, 0, nullptr);
    for (unsigned next = 0;;) {
        if (epoll_wait(watch, &e, 1, -1) < 1)
            continue;
        if (!e.data.ptr)
            break;
        int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0)
            continue;
        auto *c = new connection;

        c->fd = fd;
        add(epolls[next++ % thread_count], fd, c);
    }
    close(ended[1]);
    for (std::thread &t : threads)
        t.join();
    unlink(path);
}

void
replay(const char *path, int times)
{
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    connection c;

    // In pieces, like data from a socket.
    for (; times > 0; times--)
        for (size_t at = 0; at < text.size(); at += 8192) {
            c.received.append(text, at, 8192);
            answer_all(c);
            c.to_send.clear();
        }
}

} // namespace

int
main(int argc, char **argv)
{
    struct timespec t;

    if (argc == 4 && !strcmp(argv[1], "listen") && atoi(argv[3]) > 0) {
        listen_and_serve(argv[2], (unsigned)atoi(argv[3]));
    } else if (argc == 4 && !strcmp(argv[1], "replay")) {
        replay(argv[2], atoi(argv[3]));
    } else {
        fprintf(stderr, "usage: kv_server listen SOCKET THREADS | replay FILE TIMES\n");
        return 2;
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    printf("requests %lu\ncpu_ns %ld\nsum %lu\n", request_count.load(),
           t.tv_sec * 1000000000L + t.tv_nsec, sum_of_lengths.load());
    return 0;
}
