;;; -*- lexical-binding: t -*-
(defun work-tree (n) (if (= n 0) nil (cons (work-tree (1- n)) (work-tree (1- n)))))
(message "%d" (safe-length (work-tree 14)))
(with-temp-buffer
  (dotimes (i 20000) (insert (format "line %d %s\n" i (make-string (% i 50) ?x))))
  (sort-numeric-fields 2 (point-min) (point-max))
  (goto-char (point-min))
  (message "%d %d" (buffer-size) (how-many "9x+" (point-min)))
  (call-process "sort" nil t nil "/etc/passwd")
  (message "%s" (md5 (buffer-substring 1 1000))))
(let ((h (make-hash-table :test 'equal)))
  (dotimes (i 50000) (puthash (format "k%d" (% i 997)) (list i) h))
  (message "%d" (hash-table-count h)))
(garbage-collect)
(condition-case e
    (let ((max-lisp-eval-depth 800)) (defun f (n) (1+ (f n))) (f 1))
  (error (message "%S" (car e))))
(message "%s" (shell-command-to-string "echo from a child"))
(kill-emacs 5)
